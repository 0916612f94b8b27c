//go:build integration

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

func TestRequesterIsRecordedAndCannotBeForged(t *testing.T) {
	const key = "portico.dev/requested-by"
	c := asDeveloper(t)
	b := newBucket("payments", unique("forged"))
	b.Annotations = map[string]string{key: "somebody-else", "kept": "yes"}
	remove(t, "payments", b.Name)
	await(t, "the policy to be in force", func() (bool, string) {
		probe := b.DeepCopy()
		err := c.Create(t.Context(), probe, client.DryRunAll)
		return err == nil && probe.Annotations[key] == "oidc:payments-dev", probe.Annotations[key]
	})
	check := func(when, want string) {
		t.Helper()
		if err := c.Get(t.Context(), keyOf(b), b); err != nil {
			t.Fatal(err)
		}
		if b.Annotations[key] != want || (want != "" && b.Annotations["kept"] != "yes") {
			t.Errorf("%s: annotations %v, want requested-by %q", when, b.Annotations, want)
		}
	}
	if err := c.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	check("created with a forged value", "oidc:payments-dev")

	b.Annotations[key] = "somebody-else"
	if err := c.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	check("updated with a forged value", "oidc:payments-dev")

	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+key+`":null}}}`))
	if err := c.Patch(t.Context(), b, patch); err != nil {
		t.Fatal(err)
	}
	check("removed by a patch", "oidc:payments-dev")

	platform := admin(t)
	b.Finalizers = []string{"portico.dev/test"}
	if err := platform.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	check("updated by somebody else", "oidc:payments-dev")
	b.Status.BucketName = "a-name"
	if err := platform.Status().Update(t.Context(), b); err != nil {
		t.Fatalf("the status cannot be written: %v", err)
	}
	check("status written", "oidc:payments-dev")
	if b.Status.BucketName != "a-name" {
		t.Error("the status was lost")
	}
	b.Finalizers = nil
	if err := platform.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}

	bare := newBucket("payments", unique("bare"))
	remove(t, "payments", bare.Name)
	if err := c.Create(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	if bare.Annotations[key] != "oidc:payments-dev" {
		t.Errorf("created without annotations: %v", bare.Annotations)
	}
}

// TestPagesShowARequesterByIAM checks that pages show a requester with an IAM name, as kubectl has on EKS, like one
// from OpenID Connect.
func TestPagesShowARequesterByIAM(t *testing.T) {
	const person = "arn:aws:sts::111122223333:assumed-role/Developers/ann"
	platform, member := admin(t), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: unique("by-iam")},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: person}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-developer"},
	}
	if err := platform.Create(t.Context(), member); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = platform.Delete(context.Background(), member) })
	cfg := rest.CopyConfig(world.Admin)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: person, Groups: []string{"system:authenticated"}}
	kubectl, err := client.New(cfg, client.Options{Scheme: platform.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	b := newBucket("payments", unique("by-iam"))
	remove(t, "payments", b.Name)
	await(t, "the rights to hold", func() (bool, string) {
		err := kubectl.Create(t.Context(), b)
		return err == nil, fmt.Sprint(err)
	})
	issuer := oidctest.New(t)
	r := startPortal(t, issuer.URL, sessionKeys(t))
	in := r.signIn(t, issuer, oidctest.Claims{"preferred_username": "payments-dev", "groups": []string{
		"team-payments",
	}})
	for _, path := range []string{
		"/teams/payments?q=Developers+" + b.Name, "/teams/payments/s3buckets/" + b.Name,
		"/teams/payments/about",
	} {
		await(t, path+" to name who is known by IAM", func() (bool, string) {
			got := r.visit(t, "GET", path, in.cookies())
			return strings.Contains(got.raw, "ann (IAM role Developers in 111122223333)"), got.raw
		})
	}
}

func TestImpersonatorMayDoNothingElse(t *testing.T) {
	own, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-impersonator")
	if err != nil {
		t.Fatal(err)
	}
	buckets := controllersGVR(t)
	forbidden := func(what string, err error) {
		t.Helper()
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v, want forbidden", what, err)
		}
	}
	as := func(who rest.ImpersonationConfig) (dynamic.Interface, kubernetes.Interface) {
		t.Helper()
		cfg := rest.CopyConfig(own)
		cfg.Impersonate = who
		d, err := dynamic.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		k, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return d, k
	}
	ctx := t.Context()
	d, k := as(rest.ImpersonationConfig{})
	_, err = d.Resource(buckets).Namespace("payments").List(ctx, metav1.ListOptions{})
	forbidden("listing buckets as itself", err)
	_, err = k.CoreV1().Secrets(stack.Namespace).List(ctx, metav1.ListOptions{})
	forbidden("listing Secrets as itself", err)

	d, k = as(rest.ImpersonationConfig{UserName: payer.Username, Groups: payer.Groups})
	if err := d.Resource(buckets).Namespace("payments").Delete(
		ctx, "none", metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("deleting a bucket as a user: %v, want not found", err)
	}
	_, err = d.Resource(buckets).Namespace("payments").Get(ctx, "none", metav1.GetOptions{})
	forbidden("reading a bucket as a user", err)
	_, err = d.Resource(buckets).Namespace("payments").List(ctx, metav1.ListOptions{})
	forbidden("listing buckets as a user", err)
	_, err = k.CoreV1().ConfigMaps("payments").Get(ctx, "x", metav1.GetOptions{})
	forbidden("reading ConfigMaps as a user", err)
	_, err = k.Discovery().ServerVersion()
	forbidden("discovery as a user", err)

	_, k = as(rest.ImpersonationConfig{UserName: "x", Groups: []string{"system:masters"}})
	_, err = k.CoreV1().Secrets(stack.Namespace).List(ctx, metav1.ListOptions{})
	forbidden("acting as system:masters", err)

	clients, err := kubernetes.NewForConfig(own)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := clients.AuthorizationV1().SelfSubjectRulesReviews().Create(
		ctx, &authorizationv1.SelfSubjectRulesReview{
			Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: stack.Namespace},
		}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.Status.ResourceRules {
		if slices.Equal(r.Resources, []string{"clustertrustbundles"}) {
			continue // CA certificates, which Kubernetes 1.37 lets every ServiceAccount read
		}
		for _, verb := range r.Verbs {
			own := slices.Contains(r.APIGroups, "authorization.k8s.io") ||
				slices.Contains(r.APIGroups, "authentication.k8s.io") && verb == "create"
			if !own && len(verb) < len("impersonate") {
				t.Errorf("it may %s %v", verb, r.Resources)
			}
		}
	}
}

func TestPortalsOwnIdentityMintsOnlyTheImpersonator(t *testing.T) {
	cfg, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-portal")
	if err != nil {
		t.Fatal(err)
	}
	k, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if _, err := k.CoreV1().ServiceAccounts(stack.Namespace).CreateToken(
		ctx, "portico-operator", tokenRequest(), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("minting the operator's token: %v, want forbidden", err)
	}
	if _, err := k.CoreV1().Secrets(stack.Namespace).List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing Secrets: %v, want forbidden", err)
	}
	if _, err := k.CoreV1().Secrets(stack.Namespace).Get(
		ctx, stack.Provider, metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("reading a provider's Secret: %v, want forbidden", err)
	}
	d, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	obj := &unstructured.Unstructured{Object: bucketBody("x", "")}
	if _, err := d.Resource(controllersGVR(t)).Namespace("payments").Create(
		ctx, obj, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("creating a bucket: %v, want forbidden", err)
	}
}
