package admin

import (
	"errors"
	"net/http"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/sessions"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// sessionsAsk shows the form for a user's name and, once it is entered, the confirmation.
func (p *Pages) sessionsAsk(w http.ResponseWriter, r *http.Request) error {
	user := r.URL.Query().Get("user")
	if user != "" {
		return p.sessions(w, r, user, true)
	}
	id, err := page.Caller(r)
	if err != nil {
		return err
	}
	may, err := p.Cluster.Sessions.MayEnd(r.Context(), id)
	if err == nil && !may {
		err = &failure.ForbiddenError{Verb: "delete", Resource: sessions.Resource}
	}
	if err != nil {
		return err
	}
	if r.URL.Query().Has("user") {
		return p.showSessions(w, r, views.Sessions{Error: "Enter the name of a user."}, http.StatusUnprocessableEntity)
	}
	return p.showSessions(w, r, views.Sessions{}, http.StatusOK)
}

// sessionsEnd ends the sessions of the user in the form.
func (p *Pages) sessionsEnd(w http.ResponseWriter, r *http.Request) error {
	if err := page.ReadForm(w, r); err != nil {
		return err
	}
	return p.sessions(w, r, r.PostForm.Get("user"), false)
}

// sessions ends the sessions of a user, or with dryRun shows the confirmation.
func (p *Pages) sessions(w http.ResponseWriter, r *http.Request, user string, dryRun bool) error {
	id, err := page.Caller(r)
	if err != nil {
		return err
	}
	ended, err := p.Cluster.Sessions.End(r.Context(), id, user, dryRun)
	if wrong, ok := errors.AsType[*auth.NoUserError](err); ok {
		return p.showSessions(w, r, views.Sessions{Entered: user, Error: humanize.Sentence(wrong.Error())},
			http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	view := views.Sessions{Entered: user, Username: ended.Username, Self: ended.Username == id.Username, Done: !dryRun}
	view.Called, view.Known = p.Called(ended.Username), p.Knows(ended.Username)
	return p.showSessions(w, r, view, http.StatusOK)
}

func (p *Pages) showSessions(w http.ResponseWriter, r *http.Request, view views.Sessions, status int) error {
	id, err := page.Caller(r)
	if err != nil {
		return err
	}
	if view.Frame, err = p.Frame(r, id, page.Space{}, "Sessions", "Admin"); err != nil {
		return err
	}
	view.Frame.Section, view.Frame.Slim = views.AdminSection, true
	view.Prefix = p.Names.Prefix
	return p.Show(w, r, status, views.SessionsPage(view))
}
