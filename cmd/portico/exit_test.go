package main

import (
	"strings"
	"testing"
)

func TestWrongCommandLines(t *testing.T) {
	p := newPortal(t)
	p.on("GET /me", 200, `{"username": "oidc:jane", "groups": [], "namespaces": ["payments", "search"]}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"gte"}, "portico: there is no command \"gte\"; did you mean get?\n  See portico --help.\n"},
		{[]string{"frobnicate"}, "portico: there is no command \"frobnicate\"\n  See portico --help.\n"},
		{[]string{"get", "--what"}, "portico: unknown flag: --what\n  See portico get --help.\n"},
		{[]string{"wait", "bucket", "a", "--timeout", "soon"}, "See portico wait --help."},
		{[]string{"events"}, "portico: portico events needs KIND NAME behind it\n  See portico events --help.\n"},
		{[]string{"restart", "bucket", "shop", "now"}, "portico restart takes NAME only: leave out now"},
		{[]string{"whoami", "jane"}, "portico whoami takes no words behind it: leave out jane"},
		{[]string{"get", "-o", "xml"}, "want table, wide, json, yaml or name"},
		{[]string{"get", "--status", "fine"}, "want needs-you"},
		{[]string{"get", "-A", "-n", "x"}, "leave one of them out"},
		{[]string{"get", "bucket", "a", "-A"}, "leave out -A"},
		{[]string{"get", "-w", "-o", "yaml"}, "leave out -o yaml"},
		{[]string{"get", "bucket", "a"}, "you can use payments or search"},
		{[]string{"events", "bucket"}, "name the kind and the resource"},
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
		{[]string{"delete", "bucket", "a"}, "add --confirm"},
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
		{403, 6, `{"detail": "you are not allowed to get it"}`, "portico: you are not allowed to get it\n  Ask those who manage access to the namespace; portico whoami says who you are here.\n"},
		{404, 5, `{"detail": "not found"}`, "portico: not found\n  See what there is with portico get.\n"},
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
	if _, said := c.run(4, "get"); !strings.Contains(
		said, "you are not logged in at https://portal.example.com: run portico login") {
		t.Errorf("without a session: %s", said)
	}
	c.vars["PORTICO_TOKEN_FILE"] = "/nowhere/at/all"
	if _, said := c.run(4, "get"); !strings.Contains(said, "PORTICO_TOKEN_FILE") {
		t.Errorf("without the token's file: %s", said)
	}
}
