package people

import (
	"net/http"

	"github.com/go-logr/logr"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// record writes the operator's audit log: what a person did, or was refused. docs/audit.md lists the fields. They
// contain no value and no token. Like the portal, it does not log lists that succeed.
func record(logger logr.Logger, r *http.Request, verb string, id identity.Identity, as string, err *Error) {
	if err != nil && err.Cause != nil {
		logger.Info("what a person asked for failed", "cause", err.Cause.Error(), "requestID",
			claimed(r, operatorapi.HeaderRequest))
	}
	if verb == "list" && (err == nil || !err.Denied) {
		return
	}
	event, resource := "secret-write", "secrets"
	if verb == "reveal" {
		event, resource = "reveal", r.PathValue("kind")
	}
	decision, outcome := "allow", "done"
	switch {
	case err == nil:
	case err.Denied || err.Status == http.StatusUnauthorized:
		decision, outcome = "deny", "forbidden"
	case err.Status == http.StatusConflict:
		outcome = "conflict"
	case err.Status >= http.StatusInternalServerError:
		outcome = "failed"
	default:
		outcome = "refused"
	}
	if as != "" {
		logger = logger.WithValues("as", as)
	}
	logger.Info(event,
		"actor", id.Username, "actorName", id.Name, "actorEmail", id.Email, "verb", verb, "resource", resource,
		"namespace", shorten(r.PathValue("namespace")), "name", shorten(r.PathValue("name")), "decision", decision,
		"outcome", outcome,
		"requestID", claimed(r, operatorapi.HeaderRequest), "address", claimed(r, operatorapi.HeaderAddress), "audit",
		true)
}

// claimed returns a header with the portal's data about the request. It helps to find the portal's log line, and no
// decision depends on it.
func claimed(r *http.Request, header string) string {
	return identity.Clean(shorten(r.Header.Get(header)))
}

// asWhom returns whose password a response shows, or a refused one would have shown: "own" with its access for the
// person's own user, "object", or "" if the request is not for a password.
func asWhom(r *http.Request, answer any) string {
	switch p, ok := answer.(operatorapi.Password); {
	case !ok && r.PathValue("kind") == "":
		return ""
	case !ok && r.PathValue("kind") == v1alpha1.KindRDSInstance && !r.URL.Query().Has(operatorapi.AsMaster):
		return "own"
	case p.Access != "":
		return "own " + p.Access
	}
	return "object"
}
