package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/silence"
	"github.com/portico-platform/portico/config/check"
)

func TestReadiness(t *testing.T) {
	away := &silence.Error{For: time.Minute}
	missing := check.Problem{Object: "ValidatingAdmissionPolicy portico-operator", Says: "is missing", Fix: "bring it"}
	for name, c := range map[string]struct {
		filled bool
		silent error
		result check.Result
		path   string
		status int
		says   []string
	}{
		"well":             {true, nil, check.Result{Name: "policies", Known: true}, "/readyz", 200, []string{"ok"}},
		"well, in words":   {true, nil, check.Result{Name: "policies", Known: true}, "/readyz?verbose", 200, []string{"[+]caches ok", "[+]policies ok"}},
		"caches not there": {false, nil, check.Result{Name: "policies", Known: true}, "/readyz", 503, []string{"[-]caches failed: they are being filled"}},
		"not looked yet":   {true, nil, check.Result{Name: "policies"}, "/readyz", 503, []string{"[-]policies failed: the log says what is wrong\n"}},
		"missing": {
			true, nil,
			check.Result{Name: "policies", Known: true, Problems: []check.Problem{missing}},
			"/readyz", 503,
			[]string{"[+]caches ok", "[-]policies failed: the log says what is wrong\n"},
		},
		"the API server is away": {
			false, away,
			check.Result{Name: "policies", Err: errors.New("dial tcp 10.0.0.1:443: refused")},
			"/readyz", 503,
			[]string{"[-]caches failed: " + away.Error() + "\n", "[-]policies failed: " + away.Error() + "\n"},
		},
		"the API server is away later": {
			true, away, check.Result{Name: "policies", Known: true}, "/readyz", 200, []string{"ok"},
		},
		"the identity provider and the API server are away": {
			false, away,
			check.Result{Name: "identityprovider", Known: true, Public: true, Problems: []check.Problem{missing}},
			"/readyz", 503,
			[]string{"[-]identityprovider failed: ValidatingAdmissionPolicy portico-operator is missing"},
		},
		"a problem that only warns": {
			true, nil,
			check.Result{Name: "identityprovider", Known: true, Public: true, Warns: true, Problems: []check.Problem{missing}},
			"/readyz", 200,
			[]string{"ok, but ValidatingAdmissionPolicy portico-operator is missing: bring it"},
		},
		"a problem that only warns, in words": {
			true, nil,
			check.Result{Name: "identityprovider", Known: true, Public: true, Warns: true, Problems: []check.Problem{missing}},
			"/readyz?verbose", 200,
			[]string{"[+]caches ok", "[-]identityprovider failed: ValidatingAdmissionPolicy portico-operator is missing"},
		},
		"what only warns is not looked at yet": {
			true, nil, check.Result{Name: "identityprovider", Public: true, Warns: true}, "/readyz", 200, []string{"ok"},
		},
		"alive all the same": {false, nil, check.Result{Name: "policies"}, "/healthz", 200, []string{"ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := health{caches: func(context.Context) bool { return c.filled }, results: func() []check.Result {
				return []check.Result{c.result}
			}, silence: func() error { return c.silent }}
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
