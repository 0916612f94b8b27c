//go:build integration

package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// TestRESTDeletionsTellWhatKubernetesWarnsOf checks that a deletion passes on the warnings of an admission policy.
func TestRESTDeletionsTellWhatKubernetesWarnsOf(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	token, there, c := userToken(t, "payments-dev"), newBucket("payments", unique("warned")), admin(t)
	create(t, c, there)
	remove(t, "payments", there.Name)
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: there.Name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Delete},
					Rule:       admissionv1.Rule{APIGroups: []string{"portico.dev"}, APIVersions: []string{"*"}, Resources: []string{"s3buckets"}},
				},
			}}},
			Validations: []admissionv1.Validation{
				{Expression: "oldObject.metadata.name != '" + there.Name + "'", Message: "its backups go with it"},
			},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: there.Name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: there.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Warn},
		},
	}
	clients, err := kubernetes.NewForConfig(world.Admin)
	if err != nil {
		t.Fatal(err)
	}
	admission := clients.AdmissionregistrationV1()
	_, err = admission.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{})
	_, bindErr := admission.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{})
	t.Cleanup(func() {
		_ = admission.ValidatingAdmissionPolicyBindings().Delete(
			context.Background(), there.Name, metav1.DeleteOptions{})
		_ = admission.ValidatingAdmissionPolicies().Delete(context.Background(), there.Name, metav1.DeleteOptions{})
	})
	if err := errors.Join(err, bindErr); err != nil {
		t.Fatal(err)
	}
	at := contractual + "/" + there.Name
	warned := func(a answer) bool { return strings.Contains(a.header.Get("Warning"), "its backups go with it") }
	await(t, "the policy to count", func() (bool, string) {
		a := p.call(t, token, "DELETE", at+"?dryRun=All", nil)
		return a.status == http.StatusOK && warned(a), fmt.Sprint(a.status, a.header, a.raw)
	})
	if a := p.call(t, token, "DELETE", at, nil).want(t, http.StatusAccepted); !warned(a) {
		t.Errorf("the deletion warns of %q", a.header.Values("Warning"))
	}
}
