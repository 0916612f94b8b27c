package main

import (
	"strings"
	"testing"
)

func TestObjectsInEachFormat(t *testing.T) {
	p := newPortal(t)
	p.on("GET /resources?limit=500&namespace=payments", 200, `{"items": [`+bucket("a", "True", "")+`], "next": "x"}`)
	p.on("GET /resources?cursor=x&limit=500&namespace=payments", 200, `{"items": [`+
		bucket("b", "False", "AWS says \u001b[31mno")+`]}`)
	c := newTerminal(t, p.url)
	for format, want := range map[string]string{
		"name": "s3bucket/a\ns3bucket/b\n",
		"table": "NAMESPACE   KIND       NAME   STATUS      AGE   ENDPOINT   WHY\n" +
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
	p.on("GET /resources?kind=s3buckets&labelSelector=team%3Da&limit=500&q=x&sort=-age&status=ready", 200,
		`{"items": []}`)
	_, said := newTerminal(t, p.url).run(0, "get", "buckets", "-l", "team=a", "-q", "x", "--sort", "-age", "--status",
		"ready")
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
	p.on("GET /namespaces/payments/sqsqueues/a", 200, bucket("a", "True", ""))
	for _, k := range []string{"queue", "queues", "message-queue", "sqs"} {
		c.run(0, "get", k, "a", "-o", "name")
	}
	for name, want := range map[string]string{
		"bukcet":    "did you mean bucket?",
		"providers": "did you mean aws-account?", "zzzzzzzzzzzz": "see portico kinds",
	} {
		if _, said := c.run(2, "get", name); !strings.Contains(said, want) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

func TestWhatIsNoObjectHasFormatsToo(t *testing.T) {
	p := newPortal(t)
	p.on("GET "+buckets+"/a/events", 200,
		`{"items": [{"type": "Normal", "reason": "Created", "message": "made it", "count": 2, "time": "2026-01-02T03:00:05Z"}]}`)
	p.on("GET /catalog", 200,
		`{"items": [{"kind": "S3Bucket", "title": "Bucket", "resource": "s3buckets", "help": "A bucket. It holds files.", "shortNames": ["s3"], "canCreate": true}]}`)
	c := newTerminal(t, p.url)
	for line, want := range map[string]string{
		"whoami -o json":          `"username": "oidc:jane"`,
		"whoami -o yaml":          "username: oidc:jane\n",
		"kinds":                   "bucket   S3Bucket   s3      request it   A bucket\n",
		"kinds -o json":           `"kind": "S3Bucket"`,
		"kinds -o yaml":           "kind: S3Bucket\n",
		"events bucket a -o json": `"reason": "Created"`,
		"events bucket a -o yaml": "reason: Created\n",
		"events bucket a":         "Normal   Created   4m    2       made it\n",
		"kinds bucket":            "deletionPolicy",
	} {
		if out, said := c.run(0, strings.Fields(line)...); !strings.Contains(out, want) || said != "" {
			t.Errorf("%s shows %q and says %q, want %q", line, out, said, want)
		}
	}
	for line, want := range map[string]string{
		"whoami -o name":       "want table, json or yaml",
		"kinds bucket -o json": "leave out -o json",
	} {
		if _, said := c.run(2, strings.Fields(line)...); !strings.Contains(said, want) {
			t.Errorf("%s says %q", line, said)
		}
	}
}

func TestKindsThatMayNotBeListedAreNamed(t *testing.T) {
	f := newPortal(t)
	f.on("GET /resources?limit=500&namespace=payments", 200, `{"items": [`+bucket("logs", "True", "")+
		`], "forbidden": ["sqsqueues", "webapps"]}`)
	out, said := newTerminal(t, f.url).run(0, "get", "-n", "payments", "-o", "name")
	if out != "s3bucket/logs\n" || said != "left out, because you have no access to them here: sqsqueues, webapps\n" {
		t.Errorf("shows %q and says %q", out, said)
	}
}
