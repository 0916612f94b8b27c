package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-chi/chi/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/live"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

var (
	errNobody = errors.New("the request has no identity")
	errNoPage = errors.New("there is no such page")
	errNoTeam = errors.New("the user may look into no team")
	errForm   = errors.New("the form could not be read")
	errLarge  = errors.New("the form is too large")
)

// fault is an error in words for the user.
type fault struct {
	status              int
	title, text, advice string
	internal            bool // to be logged
	facts               []views.Choice
}

// faultOf is the one place where errors become words. The text of unknown errors is never shown.
func faultOf(err error) fault {
	var forbidden *cluster.ForbiddenError
	var away *cluster.UnavailableError
	var rows *rowsError
	var streams *live.TooManyError
	var reads *cluster.TooManyReadsError
	var noLog *noLogError
	switch {
	case errors.As(err, &forbidden):
		return fault{
			status: http.StatusForbidden, title: "You have no access to this",
			text:   prose.Sentence(forbidden.Error()),
			advice: "It is the same answer whether or not it exists. Ask a member of that team, or your platform team, for access.",
			facts:  missing(forbidden),
		}
	case errors.Is(err, errNoTeam):
		return fault{
			status: http.StatusForbidden, title: "You are not in a team yet",
			text:   "You are signed in, but none of your groups may look into a team's namespace.",
			advice: "Ask your platform team to add you to your team's group, then sign out and in again.",
		}
	case errors.Is(err, errNobody):
		return fault{
			status: http.StatusUnauthorized, title: "You are signed out",
			text: "Your session has ended.", advice: "Sign in again to go on.",
		}
	case errors.Is(err, errNoPage):
		return fault{
			status: http.StatusNotFound, title: "There is no such page",
			text: "The address may be mistyped, or the page has moved.", advice: "Start from your resources.",
		}
	case errors.Is(err, errNoPod):
		return fault{
			status: http.StatusNotFound, title: "This Pod does not exist (any more)",
			text:   "Pods come and go: each rollout, restart and change of size replaces some.",
			advice: "Look at the Pods that there are now, on the page of the web app.",
		}
	case errors.As(err, &noLog):
		return fault{
			status: http.StatusConflict, title: "There is no log to download",
			text: noLog.words, advice: "Try again when the container has started.",
		}
	case errors.Is(err, errForm):
		return fault{
			status: http.StatusBadRequest, title: "The form could not be read",
			text: "It was damaged on its way.", advice: "Go back and send it again.",
		}
	case errors.Is(err, errLarge):
		return fault{
			status: http.StatusRequestEntityTooLarge, title: "The form is too large",
			text:   fmt.Sprintf("Forms take %d kB. Nothing was sent to the cluster.", maxForm>>10),
			advice: "Go back: what you entered is still there with JavaScript. Make it smaller, or apply it with kubectl.",
		}
	case errors.As(err, &rows):
		return fault{
			status: http.StatusUnprocessableEntity, title: "The form has too many rows",
			text: prose.Sentence(rows.Error()), advice: "Go back, remove what is too much, and send it again.",
		}
	case errors.As(err, &reads):
		return fault{
			status: http.StatusTooManyRequests, title: "Too many logs are being read",
			text: prose.Sentence(reads.Error()), advice: "Wait until one of them is done, then reload this page.",
		}
	case errors.As(err, &streams):
		return fault{
			status: http.StatusTooManyRequests, title: "Too many pages are open",
			text: prose.Sentence(streams.Error()), advice: "Close some of them, then reload this one.",
		}
	case apierrors.IsNotFound(err):
		return fault{
			status: http.StatusNotFound, title: "It does not exist (any more)",
			text:   "Nothing of this name is here. It may have been deleted, perhaps with kubectl or by a colleague.",
			advice: "Look in the list of resources, or request it anew.",
		}
	case apierrors.IsConflict(err):
		return fault{
			status: http.StatusConflict, title: "Others are changing it at this moment",
			text: "Each time that your change was to be written, somebody else was faster. Nothing was changed.", advice: "Go back and send it again.",
		}
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err): // a policy's words
		return fault{
			status: http.StatusUnprocessableEntity, title: "The cluster refuses this",
			text: prose.Sentence(admissionWords(err)), advice: "Nothing was changed.",
		}
	case errors.As(err, &away) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) || errors.Is(err, context.DeadlineExceeded):
		return fault{
			status: http.StatusServiceUnavailable, title: "The cluster does not answer",
			text:     "Portico is running, but Kubernetes could not be asked. Your resources in AWS are not affected.",
			advice:   "Try again in a minute. If it lasts, tell your platform team.",
			internal: true,
		}
	}
	return fault{
		status: http.StatusInternalServerError, title: "Something went wrong on our side",
		text:     "The page could not be made. It is not your doing, and nothing was changed by it.",
		advice:   "Try again. If it happens again, tell your platform team.",
		internal: true,
	}
}

// fail answers with a page for err. The frame keeps the navigation as far as it can be had.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client has gone
	}
	f := faultOf(err)
	if f.internal {
		p.log.ErrorContext(r.Context(), "page failed", "path", r.URL.Path, "status", f.status, "error", err)
	}
	view := views.Fault{Status: statusLine(f.status), Title: f.title, Text: f.text, Advice: f.advice, RequestID: requestID(r)}
	view.Frame, view.Links = p.faultFrame(r, f)
	if id, ok := auth.FromContext(r.Context()); ok && len(f.facts) > 0 {
		view.Facts = slices.Concat(f.facts, []views.Choice{{Label: "You are", Value: id.Username}})
	}
	if f.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
		view.Retry = r.Method == http.MethodGet
	}
	if err := p.show(w, r, f.status, views.FaultPage(view)); err != nil {
		http.Error(w, "The page could not be shown.", http.StatusInternalServerError)
	}
}

// faultFrame is the frame of an error page, without what cannot be read now, and the ways on.
func (p *Pages) faultFrame(r *http.Request, f fault) (views.Frame, []views.Choice) {
	id, ok := auth.FromContext(r.Context())
	if !ok {
		return views.Frame{Title: f.title, Slim: true}, []views.Choice{{Value: "/", Label: "Sign in"}}
	}
	frame := p.anybody(id, f.title)
	frame.Slim = true
	if f.status == http.StatusServiceUnavailable {
		return frame, []views.Choice{{Value: r.URL.RequestURI(), Label: "Try again"}}
	}
	teams, err := p.teams(r.Context(), id)
	if err != nil || len(teams) == 0 {
		return frame, nil
	}
	frame.Teams = teams
	links := []views.Choice{{Value: "/", Label: "Your resources"}}
	for _, t := range teams {
		if t.ID == chi.URLParam(r, "team") {
			frame.Team = t
			links = []views.Choice{{Value: views.TeamPath(t.ID), Label: "Resources of " + t.Name}}
		}
	}
	return frame, links
}

// rightOf is what the caller lacks, as RBAC names it.
func rightOf(e *cluster.ForbiddenError) string {
	if e.Namespace == "" {
		return e.Verb + " " + e.Resource
	}
	return e.Verb + " " + e.Resource + " in namespace " + e.Namespace
}

// missing names the right that the caller lacks, and how to ask Kubernetes the same. A line to copy must hold no text of
// whoever made the link: there is none where no namespace can have the name.
func missing(e *cluster.ForbiddenError) []views.Choice {
	facts := []views.Choice{{Label: "Missing right", Value: rightOf(e)}}
	if e.Namespace == "" || len(validation.IsDNS1123Label(e.Namespace)) == 0 {
		facts = append(facts, views.Choice{Label: "Look yourself", Value: canI(e)})
	}
	return facts
}

func canI(e *cluster.ForbiddenError) string {
	where := " --all-namespaces"
	if e.Namespace != "" {
		where = " -n " + e.Namespace
	}
	return "kubectl auth can-i " + e.Verb + " " + e.Resource + where
}

func statusLine(status int) string { return strconv.Itoa(status) + " " + http.StatusText(status) }

// endings say why somebody has to sign in again: a title, and a sentence.
var endings = map[auth.Ending][2]string{
	auth.Rested:    {"Your session has ended", "You were away for longer than a session waits."},
	auth.Over:      {"Your session has ended", "Sessions last for a limited time, used or not."},
	auth.SignedOut: {"You are signed out", "You signed out, here or in another window."},
	auth.Lapsed:    {"Your session has ended", "Your organisation's sign-in page did not renew it and wants you to sign in again."},
	auth.Another:   {"Your session has ended", "Your organisation's sign-in page knows you as somebody else now. Sign in to go on as them."},
}

// SignIn is the page for visitors; href is where signing in starts.
func (p *Pages) SignIn(w http.ResponseWriter, r *http.Request, href string, why auth.Ending) {
	view := views.SignIn{Href: href, Ended: endings[why][0], Why: endings[why][1], Away: !p.outage().IsZero()}
	if err := p.show(w, r, http.StatusOK, views.SignInPage(view)); err != nil {
		p.fail(w, r, err)
	}
}

// SignedOut implements portal.Pages.
func (p *Pages) SignedOut(w http.ResponseWriter, r *http.Request, endSession string) {
	view := views.SignedOut{SignIn: views.SignInPath, Provider: endSession}
	if err := p.show(w, r, http.StatusOK, views.SignedOutPage(view)); err != nil {
		p.fail(w, r, err)
	}
}

// Ended implements portal.Pages.
func (p *Pages) Ended(w http.ResponseWriter, r *http.Request, href string) {
	if err := p.show(w, r, http.StatusUnauthorized, views.SessionEndedPage(href)); err != nil {
		p.fail(w, r, err)
	}
}

// Problem implements portal.Pages. To visitors it is a page of signing in: what they met is a refused sign-in.
func (p *Pages) Problem(w http.ResponseWriter, r *http.Request, problem portal.Problem) {
	advice := adviceFor(problem.Status)
	view := views.SignInPage(views.SignIn{
		Href: views.SignInPath, Title: problem.Title, Failed: prose.Sentence(problem.Detail),
		Advice: advice, RequestID: problem.RequestID,
	})
	if id, ok := auth.FromContext(r.Context()); ok {
		frame := p.anybody(id, problem.Title)
		frame.Slim = true
		view = views.FaultPage(views.Fault{
			Frame: frame, Status: statusLine(problem.Status), Title: problem.Title,
			Text: prose.Sentence(problem.Detail), Advice: advice, RequestID: problem.RequestID,
			Links: []views.Choice{{Value: "/", Label: "Your resources"}},
		})
	}
	if err := p.show(w, r, problem.Status, view); err != nil {
		http.Error(w, problem.Title, problem.Status)
	}
}

func adviceFor(status int) string {
	switch {
	case status == http.StatusForbidden:
		return "If you think that you should have access, tell your platform team which account you used."
	case status >= http.StatusInternalServerError:
		return "If it lasts, tell your platform team."
	}
	return ""
}
