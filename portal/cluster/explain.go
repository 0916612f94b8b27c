package cluster

import (
	"context"
	"errors"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/portal/auth"
)

// explain translates the API server's refusal of a write into an error for the caller. A missing right becomes a
// *ForbiddenError, a refusal by admission (a quota, a policy) is returned unchanged, and a refusal of the impersonation
// itself is the platform's own fault.
func (c *Cluster) explain(ctx context.Context, id auth.Identity, act Right, err error) error {
	var status apierrors.APIStatus
	switch {
	case explained(err):
	case !errors.As(err, &status):
		return &UnavailableError{Doing: "sending " + act.verb + " " + act.name(), Cause: err}
	case id.ServiceAccount && refusesServiceAccount(status.Status()):
		namespace, _, _ := auth.ServiceAccountName(id.Username)
		return &ToolError{Namespace: namespace}
	case apierrors.IsUnauthorized(err) || c.impersonator.blames(status.Status().Message):
		return &UnavailableError{Doing: "impersonating " + id.Username, Cause: err}
	case apierrors.IsForbidden(err):
		c.access.forget(id, act)
		if denied := c.access.require(ctx, id, act); denied != nil {
			return denied
		}
	}
	return err
}

// explained reports whether err is already an error for the caller.
func explained(err error) bool {
	_, forbidden := errors.AsType[*ForbiddenError](err)
	_, changed := errors.AsType[*ChangedError](err)
	_, unavailable := errors.AsType[*UnavailableError](err)
	return forbidden || changed || unavailable
}

// refusesServiceAccount reports whether a refusal is about impersonating a ServiceAccount, and not about the request
// itself.
func refusesServiceAccount(s metav1.Status) bool {
	return s.Code == http.StatusForbidden && s.Details != nil &&
		s.Details.Group == authenticationv1.GroupName && s.Details.Kind == "serviceaccounts"
}

// outcomeOf returns the outcome, for the audit event, of a write that ended with err.
func outcomeOf(err error) auth.Outcome {
	var forbidden *ForbiddenError
	var tool *ToolError
	var changed *ChangedError
	var noUser *auth.NoUserError
	var person *PersonError
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return auth.Done
	case errors.As(err, &person):
		return person.outcome()
	case errors.As(err, &forbidden), errors.As(err, &tool):
		return auth.Forbidden
	case errors.As(err, &changed), apierrors.IsConflict(err):
		return auth.Conflict
	case errors.As(err, &status), errors.As(err, &noUser):
		return auth.Refused
	}
	return auth.Failed
}
