package rest

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
)

func TestHowToolsSignInIsToldToEverybody(t *testing.T) {
	for _, c := range []struct {
		name, client, want string
	}{
		{"with a client for tools", "cli", `{"audiences":["a"],"clientID":"cli","issuer":"https://i.example","jobAudience":"https://p.example","scopes":["openid","x"]}`},
		{"without one", "", `{"audiences":["a"],"issuer":"https://i.example","jobAudience":"https://p.example"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			provider, err := auth.NewProvider(auth.Config{
				IssuerURL: "https://i.example", ClientID: "c", ClientSecret: "s3cret", PublicURL: "https://p.example",
				UsernameClaim: "u", GroupsClaim: "g", Prefix: "p:", Audiences: []string{"a"},
				CLIClientID: c.client, CLIScopes: []string{"openid", "x"},
			}, nowZero)
			if err != nil {
				t.Fatal(err)
			}
			quiet := slog.New(slog.DiscardHandler)
			h := New(newFake(t).parts(), auth.NewBearer(provider, nil, nil, fixedClock{}, quiet), nil, quiet)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, loginPath, http.NoBody))
			var got map[string]any
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
				t.Fatalf("%d %s: %v", w.Code, w.Body, err)
			}
			if sorted, _ := json.Marshal(got); string(sorted) != c.want {
				t.Errorf("got %s, want %s", sorted, c.want)
			}
		})
	}
}
