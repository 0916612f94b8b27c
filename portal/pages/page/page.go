// Package page has the base of every page of the portal: the caller and the space, the frame around a page, errors in
// the user's words, and the stream that updates an open page. It makes no access decisions.
package page

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// Base is shared by all pages.
type Base struct {
	Cluster *cluster.Cluster
	streams sse.Streams
	people  people
	Log     *slog.Logger
	Now     func() time.Time
	Alive   func(context.Context) error // checks the caller's session
	Outage  func() time.Time            // since when the identity provider does not answer; zero: it does
	Names   form.People                 // names of users and groups
}

// New returns a base over c.
func New(c *cluster.Cluster, log *slog.Logger) *Base {
	return &Base{Cluster: c, Log: log, Now: clock.RealClock{}.Now, Alive: auth.Alive, Outage: func() time.Time {
		return time.Time{}
	}}
}

// Saw records a user's display name, for pages about objects that have only the username.
func (b *Base) Saw(id auth.Identity) { b.people.saw(id) }

// Called returns the display name of a user.
func (b *Base) Called(username string) string { return b.people.called(username) }

// Knows reports whether the user has made a request since the portal started.
func (b *Base) Knows(username string) bool { return b.people.knows(username) }

// Show writes a page. It renders the page before sending the first byte, so that an error can still be shown.
func (b *Base) Show(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	var out bytes.Buffer
	if err := c.Render(r.Context(), &out); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", cmp.Or(h.Get("Cache-Control"), "no-store")) // as auth.SecurityHeaders says
	w.WriteHeader(status)
	_, err := w.Write(out.Bytes())
	if err != nil {
		b.Log.DebugContext(r.Context(), "the client went away", "path", r.URL.Path)
	}
	return nil
}

// SeeOther redirects a form's POST to a GET.
func SeeOther(w http.ResponseWriter, r *http.Request, path string) error {
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}

// Caller returns the caller. Routes are behind authentication, so a missing caller is our own error and is handled like
// a refusal.
func Caller(r *http.Request) (auth.Identity, error) {
	id, ok := auth.FromContext(r.Context())
	if !ok {
		return auth.Identity{}, errNobody
	}
	return id, nil
}

// RequestID returns the ID of a request, as in the log.
func RequestID(r *http.Request) string { return auth.RequestID(r.Context()) }

// Moment returns the view of a time.
func (b *Base) Moment(at time.Time) views.Moment { return views.Moment{At: at, Now: b.Now()} }
