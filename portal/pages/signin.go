package pages

import (
	"net/http"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// endings are the texts about why a user must sign in again: a title, and a sentence.
var endings = map[auth.Ending][2]string{
	auth.Rested:    {"Your session has ended", "You were inactive for too long."},
	auth.Over:      {"Your session has ended", "Every session ends after some hours, also while you use it."},
	auth.SignedOut: {"You are signed out", "You signed out, here or in another window."},
	auth.Lapsed:    {"Your session has ended", "Your organisation asks you to sign in again."},
	auth.Another:   {"Your session has ended", "Somebody else has signed in to your organisation in this browser. Sign in to continue as them."},
	auth.ByAdmin:   {"Your session has ended", "A platform admin ended your sessions, here and everywhere else."},
}

// SignIn shows the page for visitors; href is the link to sign in.
func (p *Pages) SignIn(w http.ResponseWriter, r *http.Request, href string, why auth.Ending) {
	view := views.SignIn{Href: href, Ended: endings[why][0], Why: endings[why][1], Away: !p.Outage().IsZero()}
	if err := p.Show(w, r, http.StatusOK, views.SignInPage(view)); err != nil {
		p.Fail(w, r, err)
	}
}

// SignedOut implements auth.Pages.
func (p *Pages) SignedOut(w http.ResponseWriter, r *http.Request, endSession string) {
	view := views.SignedOut{SignIn: views.SignInPath, Provider: endSession}
	if err := p.Show(w, r, http.StatusOK, views.SignedOutPage(view)); err != nil {
		p.Fail(w, r, err)
	}
}

// Ended implements auth.Pages.
func (p *Pages) Ended(w http.ResponseWriter, r *http.Request, href string) {
	if err := p.Show(w, r, http.StatusUnauthorized, views.SessionEndedPage(href)); err != nil {
		p.Fail(w, r, err)
	}
}

// Away implements auth.Pages.
func (p *Pages) Away(w http.ResponseWriter, r *http.Request, again string) {
	if err := p.Show(w, r, http.StatusBadGateway, views.AwayPage(again, page.RequestID(r))); err != nil {
		p.Fail(w, r, err)
	}
}

// Problem implements auth.Pages. Visitors see it as a sign-in page, because it is about a refused sign-in.
func (p *Pages) Problem(w http.ResponseWriter, r *http.Request, status int, title, detail string) {
	advice := adviceFor(status)
	view := views.SignInPage(views.SignIn{
		Href: views.SignInPath, Title: title, Failed: humanize.Sentence(detail),
		Advice: advice, RequestID: page.RequestID(r),
	})
	if id, ok := auth.FromContext(r.Context()); ok {
		frame := p.Anybody(id, title)
		frame.Slim = true
		view = views.FaultPage(views.Fault{
			Frame: frame, Status: page.StatusLine(status), Title: title,
			Text: humanize.Sentence(detail), Advice: advice, RequestID: page.RequestID(r),
			Links: []views.Choice{{Value: "/", Label: "Your resources"}},
		})
	}
	if err := p.Show(w, r, status, view); err != nil {
		http.Error(w, title, status)
	}
}

// Unconfirmed implements auth.Pages.
func (p *Pages) Unconfirmed(w http.ResponseWriter, r *http.Request, u auth.Unconfirmed) {
	id, err := page.Caller(r)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	frame := p.Anybody(id, u.Title)
	frame.Slim = true
	view := views.Fault{
		Frame: frame, Status: page.StatusLine(u.Status), Title: u.Title, Text: humanize.Sentence(u.Detail),
		Advice:    "Nothing was changed, and you are still signed in here.",
		RequestID: page.RequestID(r), Links: []views.Choice{{Value: u.Back, Label: "Back, to try again"}},
	}
	if u.EndSession != "" {
		view.Links = append(view.Links, views.Choice{Value: u.EndSession, Label: "Sign out at the identity provider"})
	}
	if err := p.Show(w, r, u.Status, views.FaultPage(view)); err != nil {
		http.Error(w, u.Title, u.Status)
	}
}

func adviceFor(status int) string {
	switch {
	case status == http.StatusForbidden:
		return "If you think that you should have access, tell a platform admin which account you used."
	case status >= http.StatusInternalServerError:
		return "If it lasts, tell a platform admin."
	}
	return ""
}
