package catalog

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A policy's message about a field is shown at the field, without the policy's name.
func TestWhatAPolicySaysIsPutAtItsField(t *testing.T) {
	const by = "ValidatingAdmissionPolicy 'portico-guardrails-s3buckets' with binding 'portico-guardrails-s3buckets' " +
		"denied request: "
	for message, want := range map[string]FieldError{
		by + "spec.publicAccessBlock.blockPublicAcls: false is not allowed; ask": {Field: "spec.publicAccessBlock.blockPublicAcls", Message: "false is not allowed; ask"},
		by + "this is no field: of the spec":                                     {Message: "this is no field: of the spec"},
		"spec.instanceType: what no policy said":                                 {Message: "spec.instanceType: what no policy said"},
	} {
		status := metav1.Status{Reason: metav1.StatusReasonInvalid, Details: &metav1.StatusDetails{
			Causes: []metav1.StatusCause{{Message: message}},
		}}
		if got := FromStatus(Kind{}, &apierrors.StatusError{ErrStatus: status}); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, want %+v", message, got, want)
		}
	}
}
