package people

import (
	"net/http"

	"github.com/go-logr/logr"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// record logs what a person did, or was refused: the audit log of the operator. docs/audit.md lists the fields. There
// is no value and no token in it. Lists that succeed leave no line, as with the portal.
func record(logger logr.Logger, r *http.Request, verb string, id identity.Identity, as string, err *Error) {
	if err != nil && err.Cause != nil {
		logger.Info("what a person asked for failed", "cause", err.Cause.Error(), "requestID", claimed(r, operatorapi.HeaderRequest))
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
		"namespace", shorten(r.PathValue("namespace")), "name", shorten(r.PathValue("name")), "decision", decision, "outcome", outcome,
		"requestID", claimed(r, operatorapi.HeaderRequest), "address", claimed(r, operatorapi.HeaderAddress), "audit", true)
}

// claimed returns what the portal says of the person's request: it is for finding the portal's line about it, and
// decides nothing.
func claimed(r *http.Request, header string) string {
	return identity.Clean(shorten(r.Header.Get(header)))
}

// asWhom returns whose password an answer shows, or one that was refused would have shown: that of a person's own user,
// with what it may do, or the object's.
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
