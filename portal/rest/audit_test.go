package rest

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
)

// TestRefusalsAreOnTheRecord: failed attempts are logged like successful ones, without the request's content.
func TestRefusalsAreOnTheRecord(t *testing.T) {
	const at = "/namespaces/payments/s3buckets"
	for reason, c := range map[string]struct {
		method, path, body string
		headers            []string
		want               string // of the line, "" for none
	}{
		"no right to create":       {"POST", "/namespaces/search/s3buckets", `{"s3cret":1}`, nil, "create s3buckets search  deny forbidden"},
		"no right to delete":       {"DELETE", "/namespaces/search/s3buckets/logs", "", nil, "delete s3buckets search logs deny forbidden"},
		"no right to replace":      {"PUT", "/namespaces/search/s3buckets/logs", `{}`, []string{"If-Match", `"x"`}, "update s3buckets search logs deny forbidden"},
		"no right to create so":    {"PUT", "/namespaces/search/s3buckets/logs", `{}`, []string{"If-None-Match", "*"}, "create s3buckets search logs deny forbidden"},
		"no right to patch, dry":   {"PATCH", "/namespaces/search/s3buckets/logs?dryRun=All", `{}`, []string{"If-Match", `"x"`}, "patch s3buckets search logs deny forbidden dry"},
		"not JSON":                 {"POST", at, `{"s3cret`, nil, "create s3buckets payments  allow refused"},
		"another content type":     {"POST", at, `{}`, []string{"Content-Type", "text/plain"}, "create s3buckets payments  allow refused"},
		"an unknown parameter":     {"POST", at + "?dryrun=All", `{}`, nil, "create s3buckets payments  allow refused"},
		"a parameter given twice":  {"POST", at + "?dryRun=All&dryRun=All", `{}`, nil, "create s3buckets payments  allow refused dry"},
		"no version":               {"PUT", at + "/logs", `{}`, nil, "update s3buckets payments logs allow refused"},
		"nothing there":            {"DELETE", at + "/none", "", nil, "delete s3buckets payments none allow refused"},
		"whose sessions, not said": {"DELETE", "/sessions", "", nil, "delete sessions   allow refused"},
		"reading":                  {"GET", "/namespaces/search/s3buckets/logs", "", nil, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			f := newFake(t)
			f.denied = denials("search")
			var log bytes.Buffer
			h := auth.Record(slog.New(slog.NewJSONHandler(&log, nil)), nowZero, nil)(f.serve())
			r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader(c.body))
			r.Header.Set("Authorization", token())
			if c.method == http.MethodPatch {
				r.Header.Set("Content-Type", mergePatch)
			}
			for i := 0; i+1 < len(c.headers); i += 2 {
				r.Header.Set(c.headers[i], c.headers[i+1])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code < 400 || strings.Contains(log.String(), "s3cret") {
				t.Errorf("%d, logged as %s", w.Code, &log)
			}
			if got := lineOf(t, &log); got != c.want {
				t.Errorf("%q, want %q: %s", got, c.want, w.Body)
			}
		})
	}
}

// denials returns entries that deny every verb in the namespace.
func denials(namespace string) (all []string) {
	for _, verb := range []string{"get", "list", "create", "update", "patch", "delete"} {
		all = append(all, verb+" "+namespace)
	}
	return all
}

// lineOf returns the audit line about a write, as the text of its fields.
func lineOf(t *testing.T, log *bytes.Buffer) string {
	t.Helper()
	for line := range strings.Lines(log.String()) {
		var l struct {
			Msg, Actor, Verb, Resource, Namespace, Name, Decision, Outcome string
			DryRun                                                         bool
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Msg != "write" {
			continue
		}
		if l.Actor != "system:serviceaccount:payments:ci" {
			t.Errorf("the actor is %q", l.Actor)
		}
		what := []string{l.Verb, l.Resource, l.Namespace, l.Name, l.Decision, l.Outcome}
		if l.DryRun {
			what = append(what, "dry")
		}
		return strings.Join(what, " ")
	}
	return ""
}
