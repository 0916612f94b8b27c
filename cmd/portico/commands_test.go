package main

import (
	"context"
	"os"
	"reflect"
	"slices"
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

func TestARequestIsWhatTheFieldsSay(t *testing.T) {
	p := newPortal(t)
	p.on("POST "+buckets, 201, bucket("a", "Unknown", ""), "ETag", etag, "Warning", `299 - "careful"`)
	_, said := newTerminal(t, p.url).run(0, "request", "bucket", "a",
		"--set", "providerRef=aws", "--set", "tags.cost.center=4711", "--set", "tags.team=x",
		"--set", "forceDestroy=true", "--set", "lifecycleRules[0].id=old", "--set", "lifecycleRules.0.expirationDays=30")
	want := map[string]any{
		"apiVersion": "portico.dev/v1alpha1", "kind": "S3Bucket", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{
			"providerRef": map[string]any{"name": "aws"}, "forceDestroy": true,
			"tags":           map[string]any{"cost.center": "4711", "team": "x"},
			"lifecycleRules": []any{map[string]any{"id": "old", "expirationDays": 30.0}},
		},
	}
	if got := p.bodies["POST "+buckets]; !reflect.DeepEqual(got, want) {
		t.Errorf("sent %v, want %v", got, want)
	}
	if said != "Warning: careful\nRequested bucket a in payments.\n" {
		t.Errorf("said %q", said)
	}
}

func TestWrongCommandLines(t *testing.T) {
	p := newPortal(t)
	p.on("GET /me", 200, `{"username": "oidc:jane", "groups": [], "namespaces": ["payments", "search"]}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"gte"}, "unknown command"},
		{[]string{"get", "--what"}, "unknown flag"},
		{[]string{"get", "-o", "xml"}, "want table, wide, json, yaml or name"},
		{[]string{"get", "--status", "fine"}, "want needs-you"},
		{[]string{"get", "-A", "-n", "x"}, "leave one of them out"},
		{[]string{"get", "bucket", "a", "-A"}, "leave out -A"},
		{[]string{"get", "-w", "-o", "yaml"}, "leave out -o yaml"},
		{[]string{"get", "bucket", "a"}, "you may use payments or search"},
		{[]string{"describe", "bucket"}, "name the kind and the object"},
		{[]string{"request"}, "what? Name a kind"},
		{[]string{"request", "bucket"}, "give the bucket a name"},
		{[]string{"request", "poolgateway", "a"}, "cannot be requested"},
		{[]string{"request", "bucket", "a", "--set", "x"}, "want field=value"},
		{[]string{"request", "bucket", "a", "--set", "forceDestory=true"}, "did you mean forceDestroy?"},
		{[]string{"request", "bucket", "a", "--set", "zzzzzzzzzzzzzz=1"}, "see portico kinds s3buckets"},
		{[]string{"request", "bucket", "a", "--set", "forceDestroy=maybe"}, "must be true or false"},
		{[]string{"request", "bucket", "a", "--set", "tags=x"}, "name the entry too"},
		{[]string{"request", "-f", "/nowhere/at/all"}, "no such file"},
		{[]string{"apply"}, "which files?"},
		{[]string{"wait", "bucket", "a", "--for", "happiness"}, "want ready or deleted"},
		{[]string{"delete", "bucket", "a"}, "add --yes"},
		{[]string{"edit", "bucket", "a"}, "Set EDITOR"},
		{[]string{"restart", "bucket", "a", "-n", "payments"}, "for a WebApp only"},
		{[]string{"get", "--server", "http://portal.example.com"}, "in the clear"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			if _, said := newTerminal(t, p.url).run(2, c.args...); !strings.Contains(said, c.want) {
				t.Errorf("said %q, want %q", said, c.want)
			}
		})
	}
}

func TestExitCodesAndWordsOfThePortalsErrors(t *testing.T) {
	for _, c := range []struct {
		status, code int
		body, want   string
	}{
		{401, 4, `{"detail": "the token is not valid here"}`, "portico: the token is not valid here\n  Run portico login, or set PORTICO_TOKEN to a token for this portal.\n"},
		{403, 6, `{"detail": "you may not get it"}`, "portico: you may not get it\n"},
		{404, 5, `{"detail": "not found"}`, "portico: not found\n"},
		{422, 1, `{"detail": "not valid", "errors": [{"location": "query.x", "message": "is odd"}]}`, "portico: not valid\n  query.x: is odd\n"},
		{422, 1, `{"detail": "not valid: x is odd", "errors": [{"location": "body.x", "message": "is odd"}]}`, "portico: not valid: x is odd\n"},
		{422, 1, `{"detail": "not valid", "errors": [{"location": "body.x", "message": "is odd"}, {"location": "body", "message": "more"}]}`, "portico: not valid\n  x: is odd\n  more\n"},
		{500, 1, `{"detail": "went wrong", "instance": "urn:portico:request:7"}`, "portico: went wrong\n  Tell the admins of the portal this: urn:portico:request:7\n"},
	} {
		p := newPortal(t)
		p.on("GET "+buckets+"/a", c.status, c.body)
		if _, said := newTerminal(t, p.url).run(c.code, "get", "bucket", "a"); said != c.want {
			t.Errorf("%d: said %q, want %q", c.status, said, c.want)
		}
	}
	if _, said := newTerminal(t, "http://127.0.0.1:1").run(1, "get"); !strings.Contains(said, "cannot be reached") {
		t.Errorf("without a portal: %s", said)
	}
}

func TestWithoutALogin(t *testing.T) {
	c := newTerminal(t, "")
	c.vars = map[string]string{}
	if _, said := c.run(4, "get"); !strings.Contains(said, "run portico login https://<your portal>") {
		t.Errorf("without a server: %s", said)
	}
	c.vars = map[string]string{"PORTICO_SERVER": "portal.example.com"}
	if _, said := c.run(4, "get"); !strings.Contains(said, "you are not logged in at https://portal.example.com: run portico login") {
		t.Errorf("without a session: %s", said)
	}
	c.vars["PORTICO_TOKEN_FILE"] = "/nowhere/at/all"
	if _, said := c.run(1, "get"); !strings.Contains(said, "PORTICO_TOKEN_FILE") {
		t.Errorf("without the token's file: %s", said)
	}
}

func TestWaitingSaysWhatIsInTheWay(t *testing.T) {
	stream := func(events ...string) string { return strings.Join(events, "") }
	snapshot := func(o string) string {
		return "event: snapshot\ndata: {\"items\": [" + strings.ReplaceAll(o, "\n", "") + "], \"complete\": true}\n\n"
	}
	changed := func(o string) string { return "event: changed\ndata: " + strings.ReplaceAll(o, "\n", "") + "\n\n" }
	const gone = "event: deleted\ndata: {\"kind\": \"S3Bucket\", \"name\": \"a\", \"namespace\": \"payments\", \"reason\": \"gone\"}\n\n"
	slow := bucket("a", "False", "the name is taken")
	for _, c := range []struct {
		name, stream string
		args         []string
		code         int
		want         string
	}{
		{"until it is ready", stream(snapshot(slow), changed(slow), changed(bucket("a", "True", ""))), nil, 0, "Needs you: The name is taken.\nReady\nbucket a in payments is ready.\n"},
		{"what is deleted instead", stream(snapshot(slow), gone), nil, 1, "portico: bucket a in payments cannot become ready: it was deleted in the meantime\n"},
		{"until it is gone", stream(snapshot(slow), gone), []string{"--for", "deleted"}, 0, "bucket a in payments is deleted.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+buckets+"/a", 200, slow)
			p.on("GET "+buckets+"/a?watch=true", 200, c.stream)
			if _, said := newTerminal(t, p.url).run(c.code, append([]string{"wait", "bucket", "a"}, c.args...)...); !strings.HasSuffix(said, c.want) {
				t.Errorf("said %q, want %q", said, c.want)
			}
		})
	}
	t.Run("longer than there is time", func(t *testing.T) {
		p := newPortal(t)
		p.on("GET "+buckets+"/a", 200, slow)
		p.on("GET "+buckets+"/a?watch=true", 200, snapshot(slow))
		_, said := newTerminal(t, p.url).run(3, "wait", "bucket", "a", "--timeout", "2s")
		if !strings.Contains(said, "bucket a in payments is not ready after 2s (Needs you: The name is taken)") {
			t.Errorf("said %q", said)
		}
	})
	t.Run("for what is not there", func(t *testing.T) {
		p := newPortal(t)
		p.on("GET "+buckets+"/a", 404, `{"detail": "not found"}`)
		newTerminal(t, p.url).run(5, "wait", "bucket", "a")
		newTerminal(t, p.url).run(0, "wait", "bucket", "a", "--for", "deleted")
	})
}

func TestDeletingAsksForTheName(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		yes         bool
		code        int
	}{
		{"the name", "a\n", false, 0}, {"another name", "b\n", false, 1}, {"nothing", "", false, 1}, {"nobody is asked", "", true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""), "ETag", etag)
			p.on("DELETE "+buckets+"/a", 202, bucket("a", "True", ""))
			term := newTerminal(t, p.url)
			term.in, term.asks = strings.NewReader(c.typed), true
			args := []string{"delete", "bucket", "a"}
			if c.yes {
				args = append(args, "--yes")
			}
			_, said := term.run(c.code, args...)
			if slices.Contains(p.asked, "DELETE "+buckets+"/a") != (c.code == 0) {
				t.Errorf("asked %q", p.asked)
			}
			if !c.yes && !strings.Contains(said, "bucket a in payments will be forgotten by Portico; what it stands for in AWS stays.") {
				t.Errorf("does not say what is lost: %s", said)
			}
		})
	}
}

func TestActionsSendOneAnnotation(t *testing.T) {
	p := newPortal(t)
	p.on("PATCH "+buckets+"/a", 200, bucket("a", "True", ""))
	p.on("PATCH /namespaces/payments/webapps/shop", 200, bucket("a", "True", ""))
	for _, c := range []struct {
		args       []string
		path, name string
		value      any
	}{
		{[]string{"pause", "bucket", "a"}, buckets + "/a", "portico.dev/paused", "true"},
		{[]string{"resume", "bucket", "a"}, buckets + "/a", "portico.dev/paused", nil},
		{[]string{"reconcile", "bucket/a"}, buckets + "/a", "portico.dev/reconcile-requested-at", "2026-01-02T03:04:05Z"},
		{[]string{"restart", "shop"}, "/namespaces/payments/webapps/shop", "portico.dev/restart-requested-at", "2026-01-02T03:04:05Z"},
	} {
		newTerminal(t, p.url).run(0, c.args...)
		want := map[string]any{"metadata": map[string]any{"annotations": map[string]any{c.name: c.value}}}
		if got := p.bodies["PATCH "+c.path]; !reflect.DeepEqual(got, want) {
			t.Errorf("%v sends %v", c.args, got)
		}
	}
}

func TestEditing(t *testing.T) {
	for _, c := range []struct {
		name   string
		edits  []string // what stands in the place of Retain, edit by edit
		put    reply
		code   int
		want   string
		puts   int
		editor error
	}{
		{"nothing", []string{"Retain"}, reply{}, 0, "Nothing has changed.", 0, nil},
		{"one field", []string{"Delete"}, reply{status: 200, body: bucket("a", "True", "")}, 0, "Changed bucket a in payments.", 1, nil},
		{"what the portal refuses, given up", []string{"Burn", "Burn"}, reply{status: 422, body: `{"detail": "not valid", "errors": [{"location": "body.spec.deletionPolicy", "message": "is odd"}]}`}, 1, "is kept in", 1, nil},
		{"what somebody else changed", []string{"Delete"}, reply{status: 412, body: `{"detail": "it is another one"}`}, 1, "somebody else changed it", 1, nil},
		{"an editor that fails", []string{"Delete"}, reply{}, 1, "the editor vi failed", 0, context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			p := newPortal(t)
			p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""), "ETag", etag)
			p.on("PUT "+buckets+"/a", c.put.status, c.put.body)
			term := newTerminal(t, p.url)
			term.vars["EDITOR"] = "vi"
			n := 0
			term.edit = func(_ context.Context, _, path string) error {
				b, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				if n > 0 && !strings.HasPrefix(string(b), "#portico: not valid\n#portico:   spec.deletionPolicy: is odd\n") {
					t.Errorf("the second file begins with %q", b)
				}
				n++
				text := strings.Replace(string(b), "deletionPolicy: Retain", "deletionPolicy: "+c.edits[n-1], 1)
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					return err
				}
				return c.editor
			}
			_, said := term.run(c.code, "edit", "bucket", "a")
			if !strings.Contains(said, c.want) {
				t.Errorf("said %q, want %q", said, c.want)
			}
			puts := 0
			for _, asked := range p.asked {
				if strings.HasPrefix(asked, "PUT ") {
					puts++
				}
			}
			if left, _ := os.ReadDir(os.Getenv("TMPDIR")); puts != c.puts || n != len(c.edits) || (len(left) == 0) != (c.code == 0) {
				t.Errorf("%d PUTs, %d edits, %d files left", puts, n, len(left))
			}
		})
	}
}
