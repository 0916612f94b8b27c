package request

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/portal/catalog"
)

// policyField is the field of a queue's, topic's or bucket's policy.
const policyField = "spec.policy"

// wrongPolicy returns an error for a policy that AWS or the operator is certain to refuse.
func wrongPolicy(obj *unstructured.Unstructured) catalog.FieldErrors {
	text := catalog.TextAt(obj, "spec", "policy")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	p, err := iampolicy.ParseStrictly(text)
	if err != nil {
		return catalog.FieldErrors{{Field: policyField, Message: err.Error()}}
	}
	if p.HasOwnSid() {
		return catalog.FieldErrors{{
			Field: policyField,
			Message: fmt.Sprintf("choose other Sids: those that begin with %s are of statements that Portico writes "+
				"by other fields", iampolicy.Own),
		}}
	}
	return nil
}
