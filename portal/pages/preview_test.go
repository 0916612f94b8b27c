package pages

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/web"
	"github.com/portico-platform/portico/web/views"
)

// TestPreview serves the pages over sample data for people who work on the look:
//
//	PREVIEW=127.0.0.1:8099 go test ./portal/pages -run TestPreview -timeout 0
func TestPreview(t *testing.T) {
	addr := os.Getenv("PREVIEW")
	if addr == "" {
		t.Skip("set PREVIEW to an address to serve the pages there")
	}
	f := busySite(t)
	p := New(f, nil)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+web.AssetsPath, web.Assets)
	mux.HandleFunc("GET /preview/sign-in", func(w http.ResponseWriter, r *http.Request) { p.SignIn(w, r, views.SignInPath) })
	mux.HandleFunc("GET /preview/signed-out", func(w http.ResponseWriter, r *http.Request) {
		p.SignedOut(w, r, "https://login.example.org/logout")
	})
	mux.HandleFunc("GET /preview/refused", func(w http.ResponseWriter, r *http.Request) {
		p.Problem(w, r, portal.Problem{Status: 403, Title: "You cannot come in", Detail: "Your account has no user name.", RequestID: "0a1b2c3d"})
	})
	mux.Handle("/", site(f, developer, time.Time{}.Add(noon.Sub(time.Time{}))))
	down := busySite(t)
	down.down = true
	mux.Handle("/down/", http.StripPrefix("/down", site(down, developer, noon)))
	server := &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: time.Second}
	t.Fatal(server.ListenAndServe())
}
