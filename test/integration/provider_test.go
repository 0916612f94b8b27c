//go:build integration

package integration

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// account creates a provider in an account of its own, which every namespace can use. Its role in the account has the
// policies of docs/iam.
func account(t *testing.T, c client.Client, accountID string) *v1alpha1.AWSProvider {
	t.Helper()
	return providerOf(t, c, accountID, stack.RoleARN(accountID))
}

// keyed creates a provider like account, but its keys have all permissions and it assumes no role.
func keyed(t *testing.T, c client.Client, accountID string) *v1alpha1.AWSProvider {
	t.Helper()
	return providerOf(t, c, accountID, "")
}

func providerOf(t *testing.T, c client.Client, accountID, role string) *v1alpha1.AWSProvider {
	t.Helper()
	name := fmt.Sprintf("account-%d", counter.Add(1))
	world.Proxy.MapKey(name, accountID)
	create(t, c, keysOf(name, name))
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.AWSProviderSpec{
		Region: stack.Region, Endpoint: sampleEndpoint(t, c), AllowedNamespaces: &metav1.LabelSelector{},
		AssumeRoleARN:  role,
		AccessKeyIDRef: &v1alpha1.SecretKeyRef{Name: name, Key: "id"}, SecretAccessKeyRef: &v1alpha1.SecretKeyRef{
			Name: name, Key: "secret",
		},
	}}
	create(t, c, p)
	t.Cleanup(func() { forget(t, c, name) })
	ready(t, c, p)
	return p
}

// keysOf returns a provider's credentials Secret with this key.
func keysOf(name, key string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: stack.Namespace, Name: name, Labels: map[string]string{
				v1alpha1.LabelSecretType: v1alpha1.SecretTypeAWSCredentials,
			},
		},
		StringData: map[string]string{"id": key, "secret": stack.SecretAccessKey + "-of-" + key},
	}
}

// forget deletes a test's provider, even if it is in use.
func forget(t *testing.T, c client.Client, name string) {
	t.Helper()
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: name}}
	err := c.Delete(context.Background(), p) // the test's own context is cancelled
	if err == nil {
		err = c.Patch(context.Background(), p,
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	}
	if client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}

func sampleEndpoint(t *testing.T, c client.Client) string {
	t.Helper()
	sample := &v1alpha1.AWSProvider{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: stack.Provider}, sample); err != nil {
		t.Fatal(err)
	}
	return sample.Spec.Endpoint
}

func TestProviderTellsWhoItIs(t *testing.T) {
	c := withOperator(t)
	p := account(t, c, "210000000001")
	if p.Status.AccountID != "210000000001" || !strings.Contains(p.Status.CallerIdentity, "210000000001") ||
		p.Status.LastAuthenticationTime == nil {
		t.Errorf("status %+v", p.Status)
	}
}

func TestAllowedNamespacesFailClosed(t *testing.T) {
	c := withOperator(t)
	p := account(t, c, "210000000002")
	edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Spec.AllowedNamespaces = nil })
	ready(t, c, p)
	b := bucketOf(team(t, c), "refused")
	b.Spec.ProviderRef.Name = p.Name
	create(t, c, b)
	got := reason(t, c, b, "ProviderNotFound")
	if !strings.Contains(got.Message, b.Namespace) || !strings.Contains(got.Message, p.Name) {
		t.Errorf("message %q", got.Message)
	}
	if calls := operations(b.Spec.BucketName, 0); len(calls) != 0 {
		t.Errorf("AWS was called: %v", calls)
	}
	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.AllowedNamespaces = &metav1.LabelSelector{MatchLabels: map[string]string{"portico.dev/aws": "allowed"}}
	})
	ready(t, c, b)
}

func TestANamespaceThatIsAllowedLaterIsNoticed(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "later")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.Namespace}}
	edit(t, c, ns, func(ns *corev1.Namespace) { delete(ns.Labels, "portico.dev/aws") })
	create(t, c, b)
	reason(t, c, b, "ProviderNotFound")
	edit(t, c, ns, func(ns *corev1.Namespace) { ns.Labels["portico.dev/aws"] = "allowed" })
	ready(t, c, b)
}

func TestRegionsAreLimited(t *testing.T) {
	c := withOperator(t)
	p := account(t, c, "210000000003")
	edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Spec.AllowedRegions = []string{stack.Region, "eu-central-1"} })
	withoutAdmission(t, c) // it would refuse the region at once
	ns := team(t, c)
	far, near := bucketOf(ns, "far"), bucketOf(ns, "near")
	far.Spec.ProviderRef.Name, far.Spec.Region = p.Name, "us-east-1"
	near.Spec.ProviderRef.Name, near.Spec.Region = p.Name, "eu-central-1"
	create(t, c, far)
	create(t, c, near)
	if got := reason(t, c, far, "RegionNotAllowed"); !strings.Contains(got.Message, "eu-central-1") {
		t.Errorf("message %q does not name the allowed regions", got.Message)
	}
	ready(t, c, near)
	if near.Status.Region != "eu-central-1" || near.Status.AccountID != "210000000003" {
		t.Errorf("status %+v", near.Status)
	}
}

func TestAMissingAndAnUnlabelledSecretIsNamedAndItsArrivalNoticed(t *testing.T) {
	c := withOperator(t)
	p := account(t, c, "210000000004")
	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.AccessKeyIDRef.Name, p.Spec.SecretAccessKeyRef.Name = "late-"+p.Name, "late-"+p.Name
	})
	if got := reason(t, c, p, "SecretNotFound"); !strings.Contains(got.Message, "late-"+p.Name) {
		t.Errorf("message %q", got.Message)
	}
	b := bucketOf(team(t, c), "patient")
	b.Spec.ProviderRef.Name = p.Name
	create(t, c, b)
	if got := reason(t, c, b, "ProviderNotReady"); !strings.Contains(got.Message, "late-"+p.Name) {
		t.Errorf("the bucket does not tell the provider's cause: %q", got.Message)
	}
	secret := keysOf("late-"+p.Name, p.Name)
	secret.Labels = nil
	create(t, c, secret)
	if got := reason(t, c, p, "SecretNotLabelled"); !strings.Contains(got.Message, v1alpha1.LabelSecretType+"="+
		v1alpha1.SecretTypeAWSCredentials) {
		t.Errorf("message %q", got.Message)
	}
	edit(t, c, secret, func(s *corev1.Secret) { s.Labels = keysOf("", "").Labels })
	ready(t, c, p)
	ready(t, c, b)
}

func TestProviderInUseStaysAndKeepsWorking(t *testing.T) {
	c := withOperator(t)
	p := account(t, c, "210000000005")
	b := bucketOf(team(t, c), "user")
	b.Spec.ProviderRef.Name = p.Name
	createReady(t, c, b)
	if err := erase(t, c, p); err != nil {
		t.Fatal(err)
	}
	if got := reason(t, c, p, "InUse"); !strings.Contains(got.Message, "S3Bucket "+b.Namespace+"/user") {
		t.Errorf("message %q does not name the user", got.Message)
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.Versioning = "Enabled" })
	ready(t, c, b)
	late := bucketOf(b.Namespace, "late")
	late.Spec.ProviderRef.Name = p.Name
	create(t, c, late)
	reason(t, c, late, "ProviderDeleting")
	gone(t, c, late)
	gone(t, c, b)
	awaitGone(t, c, p)
}

// A namespace that refers to a provider which it cannot use can neither block its deletion nor see its errors.
func TestAProviderIsNotPinnedByWhoOnlyNamesIt(t *testing.T) {
	c := withOperator(t)
	p := account(t, c, "210000000010")
	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.AllowedNamespaces = &metav1.LabelSelector{MatchLabels: map[string]string{"portico.dev/aws": "nobody"}}
		p.Spec.AccessKeyIDRef.Name = "payroll-root"
	})
	reason(t, c, p, "SecretNotFound")
	d := domainOf(t, c)
	host := d.request("pin."+d.name, func(r *v1alpha1.GatewayHostnameRequest) { r.Spec.ProviderRef.Name = p.Name })
	all := []engine.Object{host}
	for _, s := range specimens() {
		o := in(s.object(d.ns, "pin"), p.Name, "")
		create(t, c, o)
		all = append(all, o)
	}
	for _, o := range all {
		if got := reason(t, c, o, "ProviderNotFound"); strings.Contains(got.Message, "payroll") {
			t.Errorf("it learns of the provider: %q", got.Message)
		}
	}
	gone(t, c, p)
	for _, o := range all {
		gone(t, c, o)
	}
}

// Anybody who can write AWSProviders must not be able to make the operator send Secrets of its namespace to another
// server: neither a Secret without the label for AWS credentials, nor one that has it to an endpoint that the
// operator's flags do not allow.
func TestSecretsAreNotSentAway(t *testing.T) {
	c := withOperator(t)
	var asked atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer thief.Close()
	p := account(t, c, "210000000011")
	edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Spec.Endpoint = thief.URL })
	if got := reason(t, c, p, "EndpointNotAllowed"); !strings.Contains(got.Message, thief.URL) ||
		!strings.Contains(got.Message, "--allowed-endpoints") {
		t.Errorf("message %q", got.Message)
	}
	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		ref := &v1alpha1.SecretKeyRef{Name: "portico-revoked-sessions", Key: "any"}
		p.Spec.Endpoint, p.Spec.AccessKeyIDRef, p.Spec.SecretAccessKeyRef = sampleEndpoint(t, c), ref, ref
	})
	reason(t, c, p, "SecretNotLabelled")
	if asked.Load() > 0 {
		t.Errorf("%d requests went to an endpoint that is not allowed", asked.Load())
	}
}

func TestRotatedSecretTakesEffectAtOnce(t *testing.T) {
	c := withOperator(t)
	p := keyed(t, c, "210000000008")
	b := bucketOf(team(t, c), "rotated")
	b.Spec.ProviderRef.Name = p.Name
	createReady(t, c, b)
	world.Proxy.MapKey(p.Name+"-new", "210000000008")
	m := world.Proxy.Mark()
	rotate(t, c, p.Name)
	await(t, "the new key to be verified", func() (bool, string) {
		return len(world.Proxy.CallsSince(m, awsproxy.To("sts", "GetCallerIdentity"))) > 0, "no call"
	})
	world.Proxy.RevokeKey(p.Name) // only the new key works
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.Versioning = "Enabled" })
	ready(t, c, b)
}

// rotate writes the key <name>-new to a provider's Secret.
func rotate(t *testing.T, c client.Client, name string) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: name}}
	edit(t, c, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"id": name + "-new"} })
}

func TestOneVerificationServesManyResources(t *testing.T) {
	calm(t)
	c := withOperator(t)
	p := keyed(t, c, "210000000009")
	m := world.Proxy.Mark()
	ns := team(t, c)
	var all []*v1alpha1.S3Bucket
	for i := range 10 {
		b := bucketOf(ns, fmt.Sprintf("many-%d", i))
		b.Spec.ProviderRef.Name = p.Name
		create(t, c, b)
		all = append(all, b)
	}
	for _, b := range all {
		ready(t, c, b)
	}
	calls := world.Proxy.CallsSince(m, awsproxy.To("sts"), func(c awsproxy.Call) bool {
		return c.Account == "210000000009"
	})
	if len(calls) != 0 {
		t.Errorf("%d calls to STS for 10 buckets of a verified provider", len(calls))
	}
}
