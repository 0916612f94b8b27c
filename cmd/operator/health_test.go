package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/portico-platform/portico/config/check"
)

func TestReadiness(t *testing.T) {
	missing := check.Problem{Object: "ValidatingAdmissionPolicy portico-operator", Says: "is missing", Fix: "bring it"}
	for name, c := range map[string]struct {
		filled bool
		result check.Result
		path   string
		status int
		says   []string
	}{
		"well":             {true, check.Result{Name: "policies", Known: true}, "/readyz", 200, []string{"ok"}},
		"well, in words":   {true, check.Result{Name: "policies", Known: true}, "/readyz?verbose", 200, []string{"[+]caches ok", "[+]policies ok"}},
		"caches not there": {false, check.Result{Name: "policies", Known: true}, "/readyz", 503, []string{"[-]caches failed: they are being filled"}},
		"not looked yet":   {true, check.Result{Name: "policies"}, "/readyz", 503, []string{"[-]policies failed: not checked yet"}},
		"missing": {
			true,
			check.Result{Name: "policies", Known: true, Problems: []check.Problem{missing}},
			"/readyz", 503,
			[]string{"[+]caches ok", "[-]policies failed: ValidatingAdmissionPolicy portico-operator is missing: " +
				"bring it"},
		},
		"alive all the same": {false, check.Result{Name: "policies"}, "/healthz", 200, []string{"ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := health{caches: func(context.Context) bool { return c.filled }, results: func() []check.Result {
				return []check.Result{c.result}
			}}
			w := httptest.NewRecorder()
			h.routes().ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
			for _, want := range c.says {
				if w.Code != c.status || !strings.Contains(w.Body.String(), want) {
					t.Errorf("%d: %s", w.Code, w.Body)
				}
			}
		})
	}
}
