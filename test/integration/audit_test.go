//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// auditLine is a line of the portal's audit log.
type auditLine struct {
	Msg, Actor, Verb, Resource, Namespace, Name, Decision, Outcome, Reason, AuditID, RequestID string
	Audit                                                                                      bool
}

func (l auditLine) String() string {
	return strings.TrimSpace(
		strings.Join([]string{l.Msg, l.Actor, l.Verb, l.Resource, l.Namespace, l.Name, l.Decision, l.Outcome, l.Reason},
			" "))
}

// auditLines returns the lines of a request; a line is written after the response.
func (r *replica) auditLines(t *testing.T, a answer) (all []auditLine) {
	t.Helper()
	id := a.header.Get("X-Request-Id")
	await(t, "the request to be logged", func() (bool, string) {
		return strings.Contains(r.log.String(), `"msg":"request"`) &&
			strings.Contains(r.log.String(), `"requestID":"`+id+`","duration"`), id
	})
	for text := range strings.Lines(r.log.String()) {
		var l auditLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Audit && l.RequestID == id {
			all = append(all, l)
		}
	}
	return all
}

// apiEvent is an event of the API server's audit log.
type apiEvent struct {
	AuditID, Verb    string
	ImpersonatedUser struct{ Username string }
	ObjectRef        struct{ Resource, Subresource, Namespace, Name string }
	ResponseStatus   struct{ Code int }
}

// apiEventOf returns the event with the ID from the API server's audit log.
func apiEventOf(t *testing.T, id string) (found apiEvent) {
	t.Helper()
	await(t, "the API server's line", func() (bool, string) {
		text, err := os.ReadFile(world.AuditLogPath())
		if err != nil {
			return false, err.Error()
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, id) && json.Unmarshal([]byte(line), &found) == nil && found.AuditID == id {
				return true, ""
			}
		}
		return false, "no line with " + id
	})
	return found
}

func (e apiEvent) String() string {
	resource := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	return fmt.Sprintf("%s %s %s %s/%s %d", e.ImpersonatedUser.Username, e.Verb, resource, e.ObjectRef.Namespace,
		e.ObjectRef.Name, e.ResponseStatus.Code)
}

// TestAuditLinesHaveTheAPIServersIDs checks that each line of the portal's log has the ID of an event in the API
// server's audit log.
func TestAuditLinesHaveTheAPIServersIDs(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	token, name := userToken(t, "payments-dev"), unique("joined")
	remove(t, "payments", name)
	app := &v1alpha1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: unique("joined")},
		Spec:       v1alpha1.WebAppSpec{Image: "registry.example.com/shop:1.0.0"},
	}
	create(t, admin(t), app)
	discard(t, app)
	pod := podOfApp(t, app.Name, true)
	const at, user = "/namespaces/payments/s3buckets", "oidc:payments-dev"
	logs := "/namespaces/payments/webapps/" + app.Name + "/logs?pod=" + pod.Name
	await(t, "the log", func() (bool, string) {
		a := p.call(t, token, "GET", logs, nil)
		return a.status == http.StatusOK && a.raw != "", a.raw
	})
	for _, c := range []struct {
		reason, method, path string
		body                 any
		status               int
		line, api            string // "" for none
	}{
		{"a dry run", "POST", at + "?dryRun=All", bucketBody(name, ""), 200, "write " + user +
			" create s3buckets payments " + name + " allow done", user + " create s3buckets payments/" + name + " 201"},
		{"a create", "POST", at, bucketBody(name, ""), 201, "write " + user + " create s3buckets payments " + name + " allow done", user + " create s3buckets payments/" + name + " 201"},
		{"the name is taken", "POST", at, bucketBody(name, ""), 409, "write " + user + " create s3buckets payments " + name + " allow refused", user + " create s3buckets payments/" + name + " 409"},
		{"another team's", "DELETE", "/namespaces/search/s3buckets/" + name, nil, 403, "write " + user + " delete s3buckets search " + name + " deny forbidden", " create subjectaccessreviews / 201"},
		{"looking at another team's", "GET", "/namespaces/search/s3buckets/" + name, nil, 403, "denied " + user +
			" get s3buckets search " + name + " deny forbidden noRight", " create subjectaccessreviews / 201"},
		{"listing another team's", "GET", "/namespaces/search/s3buckets", nil, 403, "denied " + user + " list s3buckets search  deny forbidden noRight", " create subjectaccessreviews / 201"},
		{"a log", "GET", logs, nil, 200, "log-read " + user + " get pods/log payments " + pod.Name + " allow done", user + " get pods/log payments/" + pod.Name + " 200"},
		{"looking at one's own", "GET", at + "/" + name, nil, 200, "", ""},
		{"a list of everything", "GET", "/resources", nil, 200, "", ""},
		{"a deletion", "DELETE", at + "/" + name, nil, 202, "write " + user + " delete s3buckets payments " + name + " allow done", user + " delete s3buckets payments/" + name + " 200"},
	} {
		a := p.call(t, token, c.method, c.path, c.body).want(t, c.status)
		got := p.auditLines(t, a)
		switch {
		case c.line == "" && len(got) == 0:
		case len(got) != 1 || got[0].String() != c.line:
			t.Errorf("%s: lines %v, want %s", c.reason, got, c.line)
		default:
			if got[0].AuditID == "" {
				t.Errorf("%s: no audit ID", c.reason)
			} else if event := apiEventOf(t, got[0].AuditID); event.String() != c.api {
				t.Errorf("%s: the API server says %v, want %s", c.reason, event, c.api)
			}
		}
	}
}

// TestSignInsAreOnTheRecord checks that sign-ins, refusals and sign-outs are logged, in the same shape.
func TestSignInsAreOnTheRecord(t *testing.T) {
	issuer := oidctest.New(t)
	p := startPortal(t, issuer.URL, sessionKeys(t))
	in := p.signIn(t, issuer, oidctest.Claims{
		"preferred_username": "payments-dev", "groups": []string{"team-payments"},
		"name": "Dana Example",
	})
	a := p.visit(t, "GET", "/teams/search", in.cookies()).want(t, http.StatusForbidden)
	if got := p.auditLines(t, a); len(got) != 1 ||
		!strings.HasPrefix(got[0].String(), "denied oidc:payments-dev list ") ||
		!strings.HasSuffix(got[0].String(), " search  deny forbidden noRight") {
		t.Errorf("a page of another team: %v", got)
	}
	a = p.visit(t, "GET", "/auth/callback?state=made-up&code=x", nil).want(t, http.StatusBadRequest)
	if got := p.auditLines(t, a); len(got) != 1 || got[0].String() != "sign-in"+
		"  sign-in sessions   deny forbidden notBegunHere" {
		t.Errorf("a sign-in of nobody: %v", got)
	}
	a = p.visit(t, "POST", "/auth/logout", in.cookies(), "Origin", p.url)
	if got := p.auditLines(t, a); len(got) != 1 || got[0].String() != "sign-out oidc:payments-dev sign-out sessions  "+
		" allow done" {
		t.Errorf("signing out: %v", got)
	}
	if !strings.Contains(p.log.String(),
		`"msg":"sign-in","actor":"oidc:payments-dev","verb":"sign-in","resource":"sessions","namespace":"","name":"","decision":"allow","outcome":"done"`) {
		t.Error("signing in left no line")
	}
}
