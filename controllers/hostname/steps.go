package hostname

import (
	"context"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/steps"
)

// steps returns the steps from the claim to the DNS records, in order. They are undone in the opposite order.
func (r *reconciliation) steps() steps.List {
	all := steps.List{
		{Name: v1alpha1.StepClaimed, Do: r.ensureClaim, Undo: r.releaseClaim},
		{Name: v1alpha1.StepCertificateRequested, Do: r.requestCertificate, Undo: r.deleteCertificate},
		// The record stays: other certificates of the domain need it.
		{Name: v1alpha1.StepDNSValidated, Do: r.ensureValidationRecord},
		{Name: v1alpha1.StepCertificateIssued, Do: r.checkIssued},
		{Name: v1alpha1.StepListenerAttached, Do: r.requestListener, Undo: r.releaseListener},
		{Name: v1alpha1.StepDNSAliasReady, Do: r.ensureAlias, Undo: r.deleteAlias},
	}
	for i, s := range all {
		all[i].Do = func(ctx context.Context) (string, error) {
			text, err := s.Do(ctx)
			return text, explain(err)
		}
		if s.Undo != nil {
			all[i].Undo = func(ctx context.Context) error { return explain(s.Undo(ctx)) }
		}
	}
	return all
}

// explain turns AWS errors into messages that a user can act on, and returns other errors unchanged.
func explain(err error) error {
	if _, waiting := engine.AsWait(err); waiting || !cloud.IsCall(err) {
		return err
	}
	return cloud.Explain(err)
}
