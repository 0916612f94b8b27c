package impersonate

import (
	"context"
	"errors"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// Explain translates the API server's refusal of a write into an error for the caller. A missing right becomes a
// *failure.ForbiddenError, a refusal by admission (a quota, a policy) is returned unchanged, and a refusal of the
// impersonation itself is the platform's own fault.
func (w *Impersonator) Explain(ctx context.Context, id auth.Identity, act rights.Right, err error) error {
	var status apierrors.APIStatus
	switch {
	case explained(err):
	case !errors.As(err, &status):
		return &failure.UnavailableError{Doing: "sending " + act.Verb + " " + act.Name(), Cause: err}
	case id.ServiceAccount && refusesServiceAccount(status.Status()):
		namespace, _, _ := auth.ServiceAccountName(id.Username)
		return &failure.ToolError{Namespace: namespace}
	case apierrors.IsUnauthorized(err) || w.blames(status.Status().Message):
		return &failure.UnavailableError{Doing: "impersonating " + id.Username, Cause: err}
	case apierrors.IsForbidden(err):
		w.rights.Forget(id, act)
		if denied := w.rights.RequireRight(ctx, id, act); denied != nil {
			return denied
		}
	}
	return err
}

// explained reports whether err is already an error for the caller.
func explained(err error) bool {
	_, forbidden := errors.AsType[*failure.ForbiddenError](err)
	_, changed := errors.AsType[*failure.ChangedError](err)
	_, unavailable := errors.AsType[*failure.UnavailableError](err)
	return forbidden || changed || unavailable
}

// refusesServiceAccount reports whether a refusal is about impersonating a ServiceAccount, and not about the request
// itself.
func refusesServiceAccount(s metav1.Status) bool {
	return s.Code == http.StatusForbidden && s.Details != nil &&
		s.Details.Group == authenticationv1.GroupName && s.Details.Kind == "serviceaccounts"
}
