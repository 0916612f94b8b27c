//go:build integration

package integration

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// says fails unless the text has a line with all the parts.
func says(t *testing.T, text string, parts ...string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if containsAll(line, parts) {
			return
		}
	}
	t.Errorf("no line has %q:\n%s", parts, text)
}

// portico check alone makes an empty cluster complete.
func TestCheckInstallsWhatAClusterLacks(t *testing.T) {
	tiers.Long(t)
	bare, err := stack.Start(
		t.Context(), stack.Options{Root: "../..", Parts: stack.ControlPlane, Bare: true, Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bare.Close(); err != nil {
			t.Error(err)
		}
	})
	portico := newTerminal(t)
	at := []string{"check", "--kubeconfig", bare.AdminKubeconfig}
	out, _ := portico.run(0, append(at, "--before")...)
	says(t, out, "✓", "Kubernetes version", "v1.3")
	says(t, out, "✓", "Constrained impersonation", "on")
	says(t, out, "–", "Gateway API", "the cluster lacks", "ListenerSet")
	out, said := portico.run(1, at...)
	says(t, out, "✗", "CustomResourceDefinition s3buckets.portico.dev is missing", "portico check --fix")
	says(t, out, "✗", "MutatingAdmissionPolicy portico-requested-by is missing")
	says(t, out, "✗", "Rights", "system:serviceaccount:portico-system:portico-portal may not")
	says(t, said, "the cluster lacks what Portico needs")
	_, said = portico.run(2, append(at, "--fix")...)
	says(t, said, "--yes")
	out, said = portico.run(0, append(at, "--fix", "--yes")...)
	says(t, said, "create Namespace portico-system")
	says(t, said, "create ClusterRoleBinding portico-operator-secrets")
	says(t, out, "✓", "Rights", "are given")
	says(t, out, "–", "AWSProviders", "there is none")
	_, said = portico.run(0, append(at, "--fix", "--yes")...)
	says(t, said, "Everything that Portico installs is up to date")
	assertOptionalBindingStaysAway(t, bare, portico, at)
	assertNothingIsLost(t, bare, portico, at)
}

// bareClient returns a client with every right in the cluster of a test.
func bareClient(t *testing.T, s *stack.Stack) client.Client {
	t.Helper()
	known := controllers.Scheme()
	if err := apiextensionsv1.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.Admin, client.Options{Scheme: known})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// assertOptionalBindingStaysAway deletes the binding portico-operator-secrets, as an administrator does to limit the
// operator to Secrets in the namespaces of teams, and checks that fix does not restore it.
func assertOptionalBindingStaysAway(t *testing.T, bare *stack.Stack, portico *terminal, at []string) {
	t.Helper()
	c := bareClient(t, bare)
	if err := c.Delete(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "portico-operator-secrets"},
	}); err != nil {
		t.Fatal(err)
	}
	_, said := portico.run(0, append(at, "--fix", "--yes")...)
	says(t, said, "Everything that Portico installs is up to date")
}

// assertNothingIsLost adds a field and a version of a newer Portico, and checks that fix does not remove what is in
// use.
func assertNothingIsLost(t *testing.T, bare *stack.Stack, portico *terminal, at []string) {
	t.Helper()
	c := bareClient(t, bare)
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "hostnamegrants.portico.dev"}}
	edit(t, c, crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
		schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		schema.Properties["spec"].Properties["newer"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	})
	_, said := portico.run(0, append(at, "--fix", "--yes")...)
	says(t, said, "change CustomResourceDefinition hostnamegrants.portico.dev") // nobody uses it
	edit(t, c, crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		spec.Properties["newer"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	})
	grant := &v1alpha1.HostnameGrant{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hostnames"},
		Spec:       v1alpha1.HostnameGrantSpec{Suffixes: []string{"example.com"}},
	}
	create(t, c, grant)
	await(t, "the field to be kept", func() (bool, string) {
		err := c.Patch(t.Context(), grant, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"newer":"x"}}`)))
		out, _ := portico.command(at...).CombinedOutput()
		return err == nil && strings.Contains(string(out), "1 objects have spec.newer, which this version would drop"),
			string(out)
	})
	_, said = portico.run(1, append(at, "--fix", "--yes")...)
	says(t, said, "would drop; use the portico of that version. Nothing was changed")
}

func TestCheckTellsWhatSomebodyTookAway(t *testing.T) {
	tiers.Long(t)
	c := installer(t)
	startOperator(t, operatorOptions{})
	ready(t, c, &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: stack.Provider}})
	portico := newTerminal(t)
	at := []string{"check", "--kubeconfig", world.AdminKubeconfig}
	out, said := portico.run(0, at...)
	says(t, said, "The cluster has what Portico needs.")
	says(t, out, "✓", "AWS Load Balancer Controller")
	says(t, out, "✓", "AWSProviders", stack.Provider+" is Ready")
	crd, role := poolCRD(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "portico-operator"}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "portico-ingress-hostnames"},
	}
	broken(t, c, crd, withoutField(crd))
	broken(t, c, binding, func() {
		binding.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn}
	})
	broken(t, c, role, func() {
		role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
			return r.APIGroups[0] == "autoscaling"
		})
	})
	await(t, "every loss to be told", func() (bool, string) { // the API server sees changed roles after a moment
		out, _ := portico.command(at...).Output()
		return containsAll(string(out), []string{
			"poolgateways.portico.dev lacks .status.attached",
			"portico-ingress-hostnames has another spec.validationActions",
			"portico-operator may not get horizontalpodautoscalers.autoscaling",
		}), string(out)
	})
	out, _ = portico.run(1, append(at, "-o", "json")...)
	var told struct {
		OK    bool
		Items []struct{ About, State, Says, Fix string }
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil || told.OK || len(told.Items) < 10 {
		t.Errorf("%v: %s", err, out)
	}
	_, said = portico.run(0, append(at, "--fix", "--yes")...)
	for _, does := range []string{
		"change CustomResourceDefinition poolgateways.portico.dev",
		"change ClusterRole portico-operator", "change ValidatingAdmissionPolicyBinding portico-ingress-hostnames",
	} {
		says(t, said, does)
	}
	if n := strings.Count(said, "\n  "); n != 3 {
		t.Errorf("it did %d things:\n%s", n, said)
	}
}

// A user who is not an administrator of the cluster sees what could not be checked, and no false findings.
func TestCheckByWhoMayNotLook(t *testing.T) {
	admin(t)
	kubeconfig, err := world.ServiceAccountKubeconfig(t.Context(), stack.Namespace, "portico-impersonator")
	if err != nil {
		t.Fatal(err)
	}
	portico := newTerminal(t)
	out, _ := portico.run(1, "check", "--kubeconfig", kubeconfig)
	says(t, out, "✗", "Constrained impersonation", "not known", "an admin of the cluster")
	says(t, out, "✗", "Rights of operator and portal", "not known")
	_, said := portico.run(1, "check", "--kubeconfig", kubeconfig, "--fix", "--yes")
	says(t, said, "forbidden")
}
