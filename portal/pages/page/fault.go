package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/sessions"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/podlogs"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// fault is an error in the user's words.
type fault struct {
	status              int
	title, text, advice string
	internal            bool // must be logged
	facts               []views.Choice
}

// faultOf translates errors for the user. It is the only place that does.
func faultOf(err error) fault {
	for _, of := range []func(error) fault{faultOfCaller, faultOfRequest, faultOfTooMany, faultOfKubernetes} {
		if f := of(err); f.status != 0 {
			return f
		}
	}
	return fault{
		status: http.StatusInternalServerError, title: "Something went wrong on our side",
		text:     "The page could not be shown. You did nothing wrong, and nothing was changed.",
		advice:   "Try again. If it happens again, tell a platform admin.",
		internal: true,
	}
}

// faultOfCaller returns the fault for errors about the caller, else the zero fault.
func faultOfCaller(err error) fault {
	var forbidden *failure.ForbiddenError
	switch {
	case errors.As(err, &forbidden):
		return fault{
			status: http.StatusForbidden, title: "You have no access to this",
			text: humanize.Sentence(forbidden.Error()), advice: askFor(forbidden), facts: missing(forbidden),
		}
	case errors.Is(err, ErrNoTeam):
		return fault{
			status: http.StatusForbidden, title: "You are not in a team yet",
			text:   "You are signed in, but none of your groups has access to a team.",
			advice: "Ask a platform admin to add you to your team's group, then sign out and in again.",
		}
	case errors.Is(err, errNobody):
		return fault{
			status: http.StatusUnauthorized, title: "You are signed out",
			text: "Your session has ended.", advice: "Sign in again to continue.",
		}
	}
	return fault{}
}

// faultOfRequest returns the fault for errors about the request.
func faultOfRequest(err error) fault {
	var rows *form.RowsError
	var noLog *NoLogError
	switch {
	case errors.Is(err, ErrNoPage):
		return fault{
			status: http.StatusNotFound, title: "Page not found",
			text: "The address is mistyped, or the page has moved.", advice: "Start from your resources.",
		}
	case errors.Is(err, ErrNoPod):
		return fault{
			status: http.StatusNotFound, title: "This Pod does not exist or was deleted",
			text:   "Each rollout, restart and change of size replaces Pods.",
			advice: "See the current Pods on the page of the web app.",
		}
	case errors.As(err, &noLog):
		return fault{
			status: http.StatusConflict, title: "There is no log to download",
			text: noLog.Words, advice: "Try again when the container has started.",
		}
	case errors.Is(err, ErrForm):
		return fault{
			status: http.StatusBadRequest, title: "The form could not be read",
			text: "It arrived damaged.", advice: "Go back and send it again.",
		}
	case errors.Is(err, ErrLarge):
		return fault{
			status: http.StatusRequestEntityTooLarge, title: "The form is too large",
			text: fmt.Sprintf("A form can have %d kB at most. Nothing was sent to the cluster.", form.MaxBytes>>10),
			advice: "Go back: what you entered is still there with JavaScript. Make it smaller, or apply it with " +
				"kubectl.",
		}
	case errors.As(err, &rows):
		return fault{
			status: http.StatusUnprocessableEntity, title: "The form has too many rows",
			text: humanize.Sentence(rows.Error()), advice: "Go back, remove some rows, and send it again.",
		}
	}
	return fault{}
}

// faultOfTooMany returns the fault for exceeded limits of concurrent requests.
func faultOfTooMany(err error) fault {
	var streams *sse.TooManyError
	var reads *podlogs.TooManyReadsError
	switch {
	case errors.As(err, &reads):
		return fault{
			status: http.StatusTooManyRequests, title: "Too many logs are being read",
			text: humanize.Sentence(reads.Error()), advice: "Wait until one of them is done, then reload this page.",
		}
	case errors.As(err, &streams):
		return fault{
			status: http.StatusTooManyRequests, title: "Too many pages are open",
			text: humanize.Sentence(streams.Error()), advice: "Close some of them, then reload this one.",
		}
	}
	return fault{}
}

// faultOfKubernetes returns the fault for the API server's errors.
func faultOfKubernetes(err error) fault {
	var away *failure.UnavailableError
	var broken *podlogs.BrokenError
	switch {
	case apierrors.IsNotFound(err):
		return fault{
			status: http.StatusNotFound, title: "It does not exist or was deleted",
			text:   "There is nothing with this name. Perhaps somebody deleted it, here or with kubectl.",
			advice: "Look in the list of resources, or request it again.",
		}
	case apierrors.IsConflict(err):
		return fault{
			status: http.StatusConflict, title: "Somebody else is changing it right now",
			text:   "Somebody else changed it each time before your change was saved. Your change was not saved.",
			advice: "Go back and send it again.",
		}
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err): // a policy's message
		return fault{
			status: http.StatusUnprocessableEntity, title: "The cluster refuses this",
			text: humanize.Sentence(AdmissionWords(err)), advice: "Nothing was changed.",
		}
	case errors.As(err, &away) || errors.As(err, &broken) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsTimeout(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) || errors.Is(err, context.DeadlineExceeded):
		return fault{
			status: http.StatusServiceUnavailable, title: "The cluster does not answer",
			text:     "Portico is running, but Kubernetes does not answer. Your resources in AWS are not affected.",
			advice:   "Try again in a minute. If it lasts, tell a platform admin.",
			internal: true,
		}
	}
	return fault{}
}

// Fail shows an error page for err. The frame keeps as much of the navigation as can be read.
func (b *Base) Fail(w http.ResponseWriter, r *http.Request, err error) {
	if failure.NoteDenied(r.Context(), err); errors.Is(err, ErrNoTeam) {
		auth.NoteDenied(r.Context(), auth.Denial{Verb: "list", Resource: "namespaces", Reason: "noTeam"})
	}
	if r.Context().Err() != nil {
		return // the client has gone
	}
	f := faultOf(err)
	if f.internal {
		b.Log.ErrorContext(r.Context(), "page failed", "path", r.URL.Path, "status", f.status, "error", err)
	}
	view := views.Fault{
		Status: StatusLine(f.status), Title: f.title, Text: f.text, Advice: f.advice,
		RequestID: RequestID(r),
	}
	view.Frame, view.Links = b.faultFrame(r, f)
	if id, ok := auth.FromContext(r.Context()); ok && len(f.facts) > 0 {
		view.Facts = slices.Concat(f.facts, []views.Choice{{Label: "You are", Value: id.Username}})
	}
	if f.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
		view.Retry = r.Method == http.MethodGet
	}
	if err := b.Show(w, r, f.status, views.FaultPage(view)); err != nil {
		http.Error(w, "The page could not be shown.", http.StatusInternalServerError)
	}
}

// faultFrame returns the frame of an error page, without the parts that cannot be read, and links to continue.
func (b *Base) faultFrame(r *http.Request, f fault) (views.Frame, []views.Choice) {
	id, ok := auth.FromContext(r.Context())
	if !ok {
		return views.Frame{Title: f.title, Slim: true}, []views.Choice{{Value: "/", Label: "Sign in"}}
	}
	frame := b.Anybody(id, f.title)
	frame.Slim = true
	if f.status == http.StatusServiceUnavailable {
		return frame, []views.Choice{{Value: r.URL.RequestURI(), Label: "Try again"}}
	}
	teams, err := b.Teams(r.Context(), id)
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

// askFor returns whom to ask for the missing right. No team role grants rights to Secrets.
func askFor(e *failure.ForbiddenError) string {
	switch {
	case e.Resource == "secrets" && e.Verb == "get":
		return "You see this whether or not it exists. Portico's roles for teams do not include this right: ask a " +
			"platform admin for it, for this one Secret."
	case e.Resource == operatorapi.DatabaseResource:
		return "Developers of a team sign in to its databases to read, and owners to write, unless its Team says " +
			"otherwise (spec.secrets.signInBy). The master password is for owners. Ask an owner for one of these roles."
	case e.Resource == operatorapi.ValuesResource:
		return "Developers and owners of a team set values of Secrets, unless its Team says otherwise " +
			"(spec.secrets.setBy). Ask an owner for one of these roles, or a platform admin for the ClusterRole " +
			"portico-secret-writer in the " +
			"namespace."
	}
	return "You see this whether or not it exists. Ask a member of that team, or a platform admin, for access."
}

// rightOf returns the missing right in RBAC terms.
func rightOf(e *failure.ForbiddenError) string {
	what := e.Verb + " " + e.Resource
	if ofOne(e) && e.Name != "" {
		what += " " + e.Name
	}
	if e.Namespace == "" {
		return what
	}
	return what + " in namespace " + e.Namespace
}

// missing returns the missing right, and a command that checks it. A line to copy must not contain text from a made-up
// link: there is no command if the namespace's name is invalid.
func missing(e *failure.ForbiddenError) []views.Choice {
	facts := []views.Choice{{Label: "Missing right", Value: rightOf(e)}}
	if e.Namespace == "" || len(validation.IsDNS1123Label(e.Namespace)) == 0 {
		facts = append(facts, views.Choice{Label: "Check it yourself", Value: canI(e)})
	}
	return facts
}

// ofOne reports whether the error is about a right to one object, and not to all objects of a kind.
func ofOne(e *failure.ForbiddenError) bool {
	return e.Resource == "secrets" || e.Resource == operatorapi.ValuesResource
}

// canI returns the command. "kubectl auth can-i" does not find resources that exist in RBAC only; its --list does.
func canI(e *failure.ForbiddenError) string {
	where := " --all-namespaces"
	if e.Namespace != "" {
		where = " -n " + e.Namespace
	}
	if e.Resource == operatorapi.ValuesResource || e.Resource == operatorapi.DatabaseResource ||
		e.Resource == sessions.Resource {
		return "kubectl auth can-i --list" + strings.TrimSuffix(where, " --all-namespaces") + " | grep " + e.Resource
	}
	what := e.Resource
	if ofOne(e) && len(validation.IsDNS1123Subdomain(e.Name)) == 0 {
		what += "/" + e.Name
	}
	return "kubectl auth can-i " + e.Verb + " " + what + where
}

// StatusLine returns a status with its text.
func StatusLine(status int) string { return strconv.Itoa(status) + " " + http.StatusText(status) }
