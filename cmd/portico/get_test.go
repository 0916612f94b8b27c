package main

import (
	"strings"
	"testing"
)

func TestObjectsInEachFormat(t *testing.T) {
	p := newPortal(t)
	p.on("GET /resources?limit=500&namespace=payments", 200, `{"items": [`+bucket("a", "True", "")+`], "next": "x"}`)
	p.on("GET /resources?cursor=x&limit=500&namespace=payments", 200, `{"items": [`+bucket("b", "False", "AWS says \u001b[31mno")+`]}`)
	c := newTerminal(t, p.url)
	for format, want := range map[string]string{
		"name": "s3bucket/a\ns3bucket/b\n",
		"table": "NAMESPACE   KIND       NAME   STATUS      AGE   ENDPOINT   WHAT IS IN THE WAY\n" +
			"payments    S3Bucket   a      Ready       60m\n" +
			"payments    S3Bucket   b      Needs you   60m              AWS says  [31mno.\n",
	} {
		if out, _ := c.run(0, "get", "-n", "payments", "-o", format); out != want {
			t.Errorf("-o %s: got\n%s\nwant\n%s", format, out, want)
		}
	}
	for format, want := range map[string]string{"json": `"name": "b"`, "yaml": "name: b", "wide": "oidc:jane"} {
		if out, _ := c.run(0, "get", "-n", "payments", "-o", format); !strings.Contains(out, want) {
			t.Errorf("-o %s lacks %s: %s", format, want, out)
		}
	}
	p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""))
	if out, _ := c.run(0, "get", "bucket/a", "-o", "json"); !strings.HasPrefix(out, "{\n  \"apiVersion\"") {
		t.Errorf("one object does not stand alone: %s", out)
	}
}

func TestColoursAreForPeopleWhoWantThem(t *testing.T) {
	p := newPortal(t)
	p.on("GET /resources?limit=500", 200, `{"items": [`+bucket("a", "True", "")+`]}`)
	for _, c := range []struct {
		name  string
		shows bool
		env   string
		want  bool
	}{
		{"on a terminal", true, "", true}, {"in a pipe", false, "", false}, {"not wanted", true, "NO_COLOR", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := newTerminal(t, p.url)
			term.shows, term.vars[c.env] = c.shows, "1"
			if out, _ := term.run(0, "get"); strings.Contains(out, "\x1b[32mReady\x1b[0m") != c.want {
				t.Errorf("got %q", out)
			}
		})
	}
}

func TestFiltersAreTheServersWork(t *testing.T) {
	p := newPortal(t)
	p.on("GET /resources?kind=s3buckets&labelSelector=team%3Da&limit=500&q=x&sort=-age&status=ready", 200, `{"items": []}`)
	_, said := newTerminal(t, p.url).run(0, "get", "buckets", "-l", "team=a", "-q", "x", "--sort", "-age", "--status", "ready")
	if !strings.Contains(said, "There is nothing here.") {
		t.Errorf("an empty list says %q", said)
	}
}

func TestKindsGoByAllTheirNames(t *testing.T) {
	p := newPortal(t)
	p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""))
	p.on("GET /namespaces/payments/gatewayhostnamerequests/a", 200, bucket("a", "True", ""))
	c := newTerminal(t, p.url)
	for _, name := range []string{"S3Bucket", "s3bucket", "s3buckets", "bucket", "Buckets"} {
		c.run(0, "get", name, "a", "-o", "name")
	}
	for _, k := range []string{"hostname", "gatewayhostnamerequest"} {
		c.run(0, "get", k, "a", "-o", "name")
	}
	for name, want := range map[string]string{"bukcet": "did you mean bucket?", "providers": "did you mean aws-account?", "zzzzzzzzzzzz": "see portico kinds"} {
		if _, said := c.run(2, "get", name); !strings.Contains(said, want) {
			t.Errorf("%s: %s", name, said)
		}
	}
}
