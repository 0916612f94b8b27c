//go:build integration

package integration

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/test/stack"
)

var (
	payer    = auth.Identity{Username: "oidc:payments-dev", Groups: []string{"oidc:team-payments"}}
	searcher = auth.Identity{Username: "oidc:search-dev", Groups: []string{"oidc:team-search"}}
)

func kindNamed(t *testing.T, kinds catalog.Catalog, plural string) catalog.Kind {
	t.Helper()
	k, ok := kinds.ByPlural(plural)
	if !ok {
		t.Fatalf("no kind %s", plural)
	}
	return k
}

// as is admin's own client acting as a user, without the portal.
func asUser(t *testing.T, user string) client.Client {
	t.Helper()
	cfg, err := world.UserConfig(user)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{Scheme: controllers.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRequesterIsRecordedAndCannotBeForged(t *testing.T) {
	const key = "portico.dev/requested-by"
	c := asUser(t, "payments-dev")
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
	if _, err := d.Resource(buckets).Namespace("payments").Get(ctx, "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("getting a bucket as a user: %v, want not found", err)
	}
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
	rules, err := clients.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: stack.Namespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.Status.ResourceRules {
		for _, verb := range r.Verbs {
			own := slices.Contains(r.APIGroups, "authorization.k8s.io") || slices.Contains(r.APIGroups, "authentication.k8s.io") && verb == "create"
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
	if _, err := k.CoreV1().ServiceAccounts(stack.Namespace).CreateToken(ctx, "portico-operator", tokenRequest(), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("minting the operator's token: %v, want forbidden", err)
	}
	if _, err := k.CoreV1().Secrets(stack.Namespace).List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing Secrets: %v, want forbidden", err)
	}
	if _, err := k.CoreV1().Secrets(stack.Namespace).Get(ctx, stack.Provider, metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("reading a provider's Secret: %v, want forbidden", err)
	}
	d, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	obj := &unstructured.Unstructured{Object: bucketBody("x", "")}
	if _, err := d.Resource(controllersGVR(t)).Namespace("payments").Create(ctx, obj, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("creating a bucket: %v, want forbidden", err)
	}
}

func TestClusterRefusesIdentitiesOfTheSystem(t *testing.T) {
	c, kinds := newCluster(t, slog.New(slog.DiscardHandler))
	k := kindNamed(t, kinds, "s3buckets")
	obj := &unstructured.Unstructured{Object: bucketBody("x", "")}
	obj.SetNamespace("payments")
	for reason, id := range map[string]auth.Identity{
		"nobody":                       {},
		"groups without a name":        {Groups: []string{"oidc:team-payments"}},
		"a user of the system":         {Username: "system:kube-controller-manager"},
		"a group of the system":        {Username: "oidc:x", Groups: []string{"system:masters"}},
		"a ServiceAccount unannounced": {Username: "system:serviceaccount:portico-system:portico-operator"},
		"a ServiceAccount with groups": {Username: "system:serviceaccount:a:b", Groups: []string{"system:masters"}, ServiceAccount: true},
	} {
		t.Run(reason, func(t *testing.T) {
			if _, err := c.Create(t.Context(), id, k, obj, true); err == nil || apierrors.IsForbidden(err) {
				t.Errorf("create: %v, want a refusal before anything is sent", err)
			}
			if _, err := c.List(t.Context(), id, k, "payments"); err == nil {
				t.Error("list answers")
			}
		})
	}
}

func TestClusterUpdatesTheVersionThatWasSeen(t *testing.T) {
	c, kinds := newCluster(t, slog.New(slog.DiscardHandler))
	k := kindNamed(t, kinds, "s3buckets")
	obj := &unstructured.Unstructured{Object: bucketBody(unique("edit"), "")}
	obj.SetNamespace("payments")
	remove(t, "payments", obj.GetName())
	made, err := c.Create(t.Context(), payer, k, obj, false)
	if err != nil {
		t.Fatal(err)
	}
	seen := cluster.ETag(made.Object)

	// What the operator writes in between does not matter.
	platform := admin(t)
	live := newBucket("payments", obj.GetName())
	if err := platform.Get(t.Context(), keyOf(live), live); err != nil {
		t.Fatal(err)
	}
	live.Finalizers = []string{"portico.dev/test"}
	if err := platform.Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = platform.Get(context.Background(), keyOf(live), live)
		live.Finalizers = nil
		_ = platform.Update(context.Background(), live)
	})
	edited := made.Object.DeepCopy()
	if err := unstructured.SetNestedField(edited.Object, "Enabled", "spec", "versioning"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Update(t.Context(), searcher, k, edited, seen, false); !isForbidden(err) {
		t.Errorf("update by an outsider: %v, want forbidden", err)
	}
	updated, err := c.Update(t.Context(), payer, k, edited, seen, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := updated.Object.GetFinalizers(); len(got) != 1 {
		t.Errorf("finalizers %v were not kept", got)
	}
	if got := updated.Object.GetAnnotations()["portico.dev/requested-by"]; got != payer.Username {
		t.Errorf("requested by %q after an update", got)
	}
	var changed *cluster.ChangedError
	if _, err := c.Update(t.Context(), payer, k, edited, seen, false); !asError(err, &changed) {
		t.Errorf("update of an old version: %v, want a ChangedError", err)
	}
	ref := cluster.Ref{Kind: k, Namespace: "payments", Name: obj.GetName()}
	if _, err := c.Delete(t.Context(), payer, ref, "another-uid", false); !apierrors.IsConflict(err) {
		t.Errorf("delete of another UID: %v, want a conflict", err)
	}
}

func TestClusterTellsSubscribers(t *testing.T) {
	c, kinds := newCluster(t, slog.New(slog.DiscardHandler))
	k := kindNamed(t, kinds, "s3buckets")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sub := c.Subscribe(ctx)
	idle := c.Subscribe(ctx) // never taken from: it must not hold up the other
	name := unique("live")
	remove(t, "payments", name)
	obj := &unstructured.Unstructured{Object: bucketBody(name, "")}
	obj.SetNamespace("payments")
	if _, err := c.Create(t.Context(), payer, k, obj, false); err != nil {
		t.Fatal(err)
	}
	want := cluster.Change{Kind: "s3buckets", Namespace: "payments", Name: name}
	deadline := time.After(patience)
	for {
		select {
		case <-sub.Ready():
		case <-deadline:
			t.Fatal("no change was told")
		}
		if changes, _ := sub.Take(); slices.Contains(changes, want) {
			break
		}
	}
	if changes, _ := idle.Take(); !slices.Contains(changes, want) {
		t.Error("the idle subscriber lost the change")
	}
	list, err := c.List(t.Context(), payer, k, "")
	if err != nil || !slices.ContainsFunc(list, func(o *unstructured.Unstructured) bool { return o.GetName() == name }) {
		t.Errorf("the list over all namespaces lacks the bucket (%v)", err)
	}
}

func TestClusterOffersProvidersOfTheNamespace(t *testing.T) {
	c, kinds := newCluster(t, slog.New(slog.DiscardHandler))
	k := kindNamed(t, kinds, "s3buckets")
	got, err := c.Providers(t.Context(), payer, k, "payments")
	if err != nil || len(got) != 1 || got[0].Name != stack.Provider || got[0].Region == "" {
		t.Errorf("providers of payments: %+v, %v", got, err)
	}
	if _, err := c.Providers(t.Context(), searcher, k, "payments"); !isForbidden(err) {
		t.Errorf("providers of a foreign namespace: %v, want forbidden", err)
	}
	platform := auth.Identity{Username: "oidc:platform-admin", Groups: []string{"oidc:platform-admins"}}
	if got, err := c.Providers(t.Context(), platform, k, "kube-system"); err != nil || len(got) != 0 {
		t.Errorf("providers of a namespace that none selects: %v, %v", got, err)
	}
	spaces, err := c.Namespaces(t.Context(), payer)
	if err != nil || !slices.Equal(spaces, []string{"payments"}) {
		t.Errorf("namespaces of payments-dev: %v, %v", spaces, err)
	}
	all, err := c.Namespaces(t.Context(), platform)
	if err != nil || !slices.Contains(all, "payments") || !slices.Contains(all, "search") {
		t.Errorf("namespaces of platform-admin: %v, %v", all, err)
	}
}

func TestRevocationReachesOtherReplicas(t *testing.T) {
	one, _ := newCluster(t, slog.New(slog.DiscardHandler))
	other, _ := newCluster(t, slog.New(slog.DiscardHandler))
	session := unique("0123456789abcdef")
	if other.Revocations().Revoked(session) {
		t.Fatal("revoked before it was")
	}
	if err := one.Revocations().Revoke(t.Context(), session, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if !one.Revocations().Revoked(session) {
		t.Error("not revoked where it was done")
	}
	await(t, "the other replica", func() (bool, string) { return other.Revocations().Revoked(session), "still good there" })

	ended := unique("ended")
	if err := one.Revocations().Revoke(t.Context(), ended, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := one.Revocations().Revoke(t.Context(), unique("next"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	var s corev1.Secret
	if err := admin(t).Get(t.Context(), client.ObjectKey{Namespace: stack.Namespace, Name: cluster.RevocationSecret}, &s); err != nil {
		t.Fatal(err)
	}
	if _, still := s.Data[ended]; still {
		t.Error("a session that ended by itself stays on the list")
	}
	if _, there := s.Data[session]; !there {
		t.Error("a revoked session is not on the list")
	}
}
