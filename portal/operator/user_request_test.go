package operator

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/api/operatorapi"
)

func errandTo(t *testing.T, h http.HandlerFunc) (*Client, *cluster) {
	t.Helper()
	l, k := newLeader(t, "one"), &cluster{}
	l.says(h)
	k.leads(l)
	c := New(k, testingclock.NewFakePassiveClock(time.Now()), nil)
	t.Cleanup(c.Close)
	return c, k
}

func TestWhatAPersonAsksIsCarriedWithTheirToken(t *testing.T) {
	c, _ := errandTo(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := []string{
			r.Method, r.Header.Get("Authorization"), r.Header.Get(operatorapi.HeaderPerson),
			r.Header.Get(operatorapi.HeaderRequest), r.Header.Get(operatorapi.HeaderAddress), string(body),
		}
		want := []string{http.MethodPatch, "Bearer token-1", "janes", "r1", "10.0.0.1", `{"remove":["a"]}`}
		if !slices.Equal(got, want) {
			t.Errorf("method, Authorization, person, request, address, body = %q, want %q", got, want)
		}
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(operatorapi.Secret{Name: "shop"})
	})
	var out operatorapi.Secret
	status, err := c.Do(t.Context(), Errand{
		Method: http.MethodPatch, Path: operatorapi.SecretPath("payments", "shop"), Body: operatorapi.SecretChange{
			Remove: []string{"a"},
		},
		Token: "janes", Request: "r1", Address: "10.0.0.1",
	}, &out)
	if status != http.StatusCreated || err != nil || out.Name != "shop" {
		t.Errorf("%d %v %+v", status, err, out)
	}
}

func TestRefusalsAreToldFromTrouble(t *testing.T) {
	problem := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		refused int
		dropped bool
	}{
		"the person may not":  {problem(403, "application/problem+json", `{"detail": "you may not"}`), 403, false},
		"a bad token":         {problem(401, "application/problem+json", `{"detail": "you may not"}`), 401, false},
		"switched off":        {problem(501, "application/problem+json", `{"detail": "you may not"}`), 501, false},
		"the portal may not":  {problem(403, "text/plain", "Forbidden\n"), 0, false},
		"the portal's token":  {problem(401, "text/plain", "Unauthorized\n"), 0, true},
		"an older operator":   {problem(404, "text/plain", "nothing here"), 0, false},
		"no words":            {problem(503, "application/problem+json", `{}`), 0, false},
		"words of no meaning": {problem(200, "application/json", `planted-value`), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, k := errandTo(t, c.answer)
			var out operatorapi.Secret
			_, err := client.Do(t.Context(),
				Errand{Method: http.MethodGet, Path: "/people/secrets/payments", Token: "janes"}, &out)
			refused, told := errors.AsType[*RefusedError](err)
			_, away := errors.AsType[*AwayError](err)
			if told != (c.refused != 0) || away == told {
				t.Fatalf("error = %v, refused %v, away %v; want it refused: %v", err, told, away, c.refused != 0)
			}
			if told && (refused.Status != c.refused || refused.Error() != "you may not") {
				t.Errorf("refused with %d: %v, want %d: you may not", refused.Status, refused, c.refused)
			}
			if (len(k.dropped) > 0) != c.dropped || strings.Contains(err.Error(), "planted") ||
				strings.Contains(err.Error(), "janes") {
				t.Errorf("dropped %v: %v", k.dropped, err)
			}
		})
	}
}

func TestAnErrandFindsTheNewLeader(t *testing.T) {
	old, next, k := newLeader(t, "old"), newLeader(t, "next"), &cluster{}
	next.says(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"name": "shop"}`) })
	old.says(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"name": "old"}`) })
	k.leads(old)
	c := New(k, testingclock.NewFakePassiveClock(time.Now()), nil)
	t.Cleanup(c.Close)
	for _, want := range []string{"old", "shop"} {
		var out operatorapi.Secret
		if _, err := c.Do(t.Context(), Errand{Method: http.MethodGet, Path: "/people/secrets/payments", Token: "janes"},
			&out); err != nil || out.Name != want {
			t.Errorf("%v %+v, want %s", err, out, want)
		}
		k.leads(next)
		old.CloseClientConnections()
		old.Close()
	}
	k.leaseErr = errors.New("down")
	next.Close()
	if _, err := c.Do(t.Context(), Errand{Method: http.MethodGet, Path: "/"}, nil); err == nil {
		t.Error("nobody answers, and there is no error")
	}
}

// TestAnAnswerOfTheOperatorIsReadToItsLimit: a response above the limit counts as none.
func TestAnAnswerOfTheOperatorIsReadToItsLimit(t *testing.T) {
	c, _ := errandTo(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"name": "`+strings.Repeat("x", longestErrand)+`"}`) // the reader may have gone
	})
	var out operatorapi.Secret
	_, err := c.Do(t.Context(), Errand{
		Method: http.MethodGet, Path: operatorapi.SecretPath("payments", "shop"),
		Token: "janes",
	}, &out)
	if _, away := errors.AsType[*AwayError](err); !away || out.Name != "" {
		t.Errorf("%v, with a name of %d bytes", err, len(out.Name))
	}
}
