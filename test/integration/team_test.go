//go:build integration

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// teamOf returns a Team that uses every feature, and removes it and its namespaces at the end of the test.
func teamOf(t *testing.T, c client.Client, namespaces ...string) *v1alpha1.Team {
	t.Helper()
	made := &v1alpha1.Team{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("squad-%d", counter.Add(1))},
		Spec: v1alpha1.TeamSpec{
			Title: "Squad", Contact: "squad@example.com",
			Members: []v1alpha1.TeamMember{
				{Group: "oidc:squad", Role: v1alpha1.TeamDeveloper}, {User: "oidc:boss", Role: v1alpha1.TeamOwner}, {Group: "oidc:guests", Role: v1alpha1.TeamViewer},
			},
			Providers: []v1alpha1.TeamProvider{{Name: "aws-local"}},
			Quotas: &v1alpha1.TeamQuotas{
				Resources: []v1alpha1.KindQuota{{Kind: v1alpha1.KindS3Bucket, Max: 1}},
				CPU:       new(resource.MustParse("20")), Pods: new(int32(50)),
			},
			Hostnames: &v1alpha1.HostnameGrantSpec{Suffixes: []string{"squad.example.com"}},
			Defaults:  &v1alpha1.TeamDefaults{Provider: "aws-local"},
			Isolation: v1alpha1.TeamIsolation{Containers: &v1alpha1.ContainerLimits{DefaultRequest: &v1alpha1.CPUAndMemory{CPU: new(resource.MustParse("100m"))}}},
		},
	}
	for _, name := range namespaces {
		made.Spec.Namespaces = append(made.Spec.Namespaces, v1alpha1.TeamNamespace{Name: name})
	}
	t.Cleanup(func() {
		for _, name := range made.NamespaceNames() {
			abandon(t, c, name)
		}
		dismiss(t, c, made)
	})
	return made
}

// dismiss deletes a Team, regardless of what is left in its namespaces.
func dismiss(t *testing.T, c client.Client, made *v1alpha1.Team) {
	t.Helper()
	ctx := context.Background() // the test's own context is cancelled
	_ = c.Patch(ctx, made.DeepCopy(),
		client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null,"annotations":{"portico.dev/paused":"true"}}}`)))
	_ = c.Status().Patch(ctx, made.DeepCopy(),
		client.RawPatch(types.MergePatchType, []byte(`{"status":{"namespaces":null}}`)))
	release(ctx, t, c, made)
}

func namespaceNamed(t *testing.T, c client.Client, name string) *corev1.Namespace {
	t.Helper()
	ns := &corev1.Namespace{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, ns); err != nil {
		t.Fatal(err)
	}
	return ns
}

// objectsOf returns the objects that a Team creates in a namespace.
func objectsOf(ns string) []client.Object {
	in := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }
	return []client.Object{
		&rbacv1.RoleBinding{ObjectMeta: in("portico-viewer")}, &rbacv1.RoleBinding{ObjectMeta: in("portico-developer")},
		&rbacv1.RoleBinding{ObjectMeta: in("portico-owner")},
		&rbacv1.RoleBinding{ObjectMeta: in("portico-secret-writer")},
		&corev1.ResourceQuota{ObjectMeta: in("portico-team")}, &corev1.LimitRange{ObjectMeta: in("portico-team")},
		&networkingv1.NetworkPolicy{ObjectMeta: in("portico-team")}, &v1alpha1.HostnameGrant{
			ObjectMeta: in("hostnames"),
		},
	}
}

// as returns a client that impersonates a user.
func as(t *testing.T, user string, groups ...string) client.Client {
	t.Helper()
	cfg := rest.CopyConfig(world.Admin)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:authenticated")}
	c, err := client.New(cfg, client.Options{Scheme: scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestATeamIsOneObject(t *testing.T) {
	c := withOperator(t)
	squad := teamOf(t, c)
	squad.Spec.Namespaces = []v1alpha1.TeamNamespace{{Name: squad.Name, Environment: "prod", ConfirmDeletion: true}}
	createReady(t, c, squad)
	ns := namespaceNamed(t, c, squad.Name)
	for label, want := range map[string]string{
		"portico.dev/team": squad.Name, "portico.dev/aws": "allowed", "portico.dev/environment": "prod",
		"portico.dev/confirm-deletion":       "required",
		"pod-security.kubernetes.io/enforce": "restricted",
	} {
		if ns.Labels[label] != want {
			t.Errorf("the namespace is labelled %s=%q, want %q", label, ns.Labels[label], want)
		}
	}
	for _, obj := range objectsOf(squad.Name) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			t.Error(err)
		}
	}
	for _, step := range []string{"Namespaces", "Access", "Quotas", "Isolation", "Hostnames", "Providers"} {
		if !meta.IsStatusConditionTrue(squad.Status.Conditions, step) {
			t.Errorf("the step %s does not hold: %v", step, squad.Status.Conditions)
		}
	}
	isolated(t, c, squad)
	developer, guest, stranger := as(t, "oidc:dev", "oidc:squad"), as(t, "oidc:guest", "oidc:guests"),
		as(t, "oidc:other", "oidc:others")
	if err := stranger.Create(t.Context(), bucketOf(squad.Name, "first")); !apierrors.IsForbidden(err) {
		t.Errorf("a stranger requests a bucket: %v", err)
	}
	if err := guest.Create(t.Context(), bucketOf(squad.Name, "first")); !apierrors.IsForbidden(err) {
		t.Errorf("a viewer requests a bucket: %v", err)
	}
	await(t, "the developers to have their role", func() (bool, string) {
		err := developer.Create(t.Context(), bucketOf(squad.Name, "first"))
		return err == nil, fmt.Sprint(err)
	})
	ready(t, c, bucketOf(squad.Name, "first"))
	if err := developer.Create(t.Context(), bucketOf(squad.Name, "second")); err == nil ||
		!strings.Contains(err.Error(), "exceeded quota") {
		t.Errorf("a second bucket: %v, want it refused by the quota of one", err)
	}
	await(t, "the Team to count its bucket", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(squad), squad)
		return err == nil && squad.Status.Resources == 1 && squad.Status.Members == 3, fmt.Sprint(squad.Status, err)
	})
}

func TestAResourceGetsTheDefaultProviderOfItsTeam(t *testing.T) {
	c := withOperator(t)
	squad := teamOf(t, c)
	squad.Spec.Quotas = nil
	createReady(t, c, squad)
	bucket := &unstructured.Unstructured{}
	bucket.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindS3Bucket))
	bucket.SetNamespace(squad.Name)
	bucket.SetName("unsaid")
	bucket.Object["spec"] = map[string]any{}
	await(t, "the default to be known", func() (bool, string) { // the API server caches the namespace
		err := c.Create(t.Context(), bucket)
		return err == nil, fmt.Sprint(err)
	})
	made := bucketOf(squad.Name, "unsaid")
	ready(t, c, made)
	if made.Spec.ProviderRef.Name != "aws-local" {
		t.Errorf("the bucket is of the provider %q", made.Spec.ProviderRef.Name)
	}
}

func TestATeamIsKeptAsItIsDescribed(t *testing.T) {
	c := withOperator(t)
	squad := teamOf(t, c)
	createReady(t, c, squad)
	for _, obj := range objectsOf(squad.Name) {
		if err := c.Delete(t.Context(), obj); err != nil {
			t.Error(err)
		}
	}
	if err := c.Delete(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "portico:team:" + squad.Name + ":owner"},
	}); err != nil {
		t.Error(err)
	}
	edit(t, c, namespaceNamed(t, c, squad.Name), func(ns *corev1.Namespace) { delete(ns.Labels, "portico.dev/aws") })
	await(t, "all of it to be there again", func() (bool, string) {
		for _, obj := range append(objectsOf(squad.Name), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "portico:team:" + squad.Name + ":owner"},
		}) {
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil ||
				obj.GetDeletionTimestamp() != nil {
				return false, fmt.Sprint(obj.GetName(), err)
			}
		}
		return namespaceNamed(t, c, squad.Name).Labels["portico.dev/aws"] == "allowed", "the label of AWS is missing"
	})
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: squad.Name, Name: "portico-owner"}}
	edit(t, c, binding, func(b *rbacv1.RoleBinding) {
		b.Subjects = append(b.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "User", Name: "oidc:mallory"})
	})
	await(t, "the added owner to be gone", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(binding), binding)
		return err == nil && len(binding.Subjects) == 1, fmt.Sprint(binding.Subjects, err)
	})
	awaitEvent(t, c, squad, "Repaired", "RoleBinding portico-owner")
}

func TestASuspendedTeamOnlyLooks(t *testing.T) {
	c := withOperator(t)
	squad := teamOf(t, c)
	squad.Spec.Quotas = nil
	createReady(t, c, squad)
	developer := as(t, "oidc:dev", "oidc:squad")
	await(t, "the developer's role", func() (bool, string) {
		err := developer.Create(t.Context(), bucketOf(squad.Name, "one"))
		return err == nil, fmt.Sprint(err)
	})
	ready(t, c, bucketOf(squad.Name, "one"))
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: meta1(squad.Name, "ci"), RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-developer",
		},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: squad.Name, Name: "ci"}},
	})
	edit(t, c, squad, func(s *v1alpha1.Team) { s.Spec.Suspended = true })
	await(t, "what goes on beside the team to be named", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(squad), squad)
		access := meta.FindStatusCondition(squad.Status.Conditions, "Access")
		return err == nil && access != nil && strings.Contains(access.Message, "ci in "+squad.Name+
			" (ClusterRole portico-developer of ServiceAccount "+squad.Name+"/ci)"), fmt.Sprint(access, err)
	})
	await(t, "the team to be suspended", func() (bool, string) {
		err := developer.Create(t.Context(), bucketOf(squad.Name, fmt.Sprintf("two-%d", counter.Add(1))))
		return apierrors.IsForbidden(err), fmt.Sprint(err)
	})
	if err := developer.Get(t.Context(), client.ObjectKey{Namespace: squad.Name, Name: "one"},
		&v1alpha1.S3Bucket{}); err != nil {
		t.Errorf("a developer of a suspended team looks: %v", err)
	}
	edit(t, c, squad, func(s *v1alpha1.Team) { s.Spec.Suspended = false })
	await(t, "the team to go on", func() (bool, string) {
		err := developer.Create(t.Context(), bucketOf(squad.Name, fmt.Sprintf("three-%d", counter.Add(1))))
		return err == nil, fmt.Sprint(err)
	})
}

func TestNoNamespaceIsTakenWithoutConsent(t *testing.T) {
	c := withOperator(t)
	theirs := team(t, c) // it has no label of a team
	squad := teamOf(t, c, theirs, theirs+"-new")
	create(t, c, squad)
	condition := reason(t, c, squad, v1alpha1.ReasonNamespaceNotGiven)
	if want := "kubectl label namespace " + theirs + " portico.dev/team=" + squad.Name; !strings.Contains(
		condition.Message, want) {
		t.Errorf("%q does not say %q", condition.Message, want)
	}
	await(t, "the other namespace to be the team's nevertheless", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKey{Namespace: theirs + "-new", Name: "portico-developer"},
			&rbacv1.RoleBinding{})
		return err == nil, fmt.Sprint(err)
	})
	for _, obj := range objectsOf(theirs) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); !apierrors.IsNotFound(err) {
			t.Errorf("%s in a namespace that is not the team's: %v", obj.GetName(), err)
		}
	}
	edit(t, c, namespaceNamed(t, c, theirs), func(ns *corev1.Namespace) { ns.Labels["portico.dev/team"] = squad.Name })
	ready(t, c, squad)
	rival := teamOf(t, c, theirs)
	create(t, c, rival)
	if condition := reason(t, c, rival, v1alpha1.ReasonNamespaceOfAnotherTeam); !strings.Contains(
		condition.Message, squad.Name) {
		t.Errorf("%q does not name %s", condition.Message, squad.Name)
	}
	for _, system := range []string{"kube-system", "default", "portico-system"} {
		bad := teamOf(t, c, system)
		bad.Name += "-x"
		if err := c.Create(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "namespaces of the system") {
			t.Errorf("a team with %s: %v", system, err)
		}
		bad.Spec.Namespaces = nil // so that the cleanup does not touch it
	}
}

func TestANamespaceThatATeamGivesUpStays(t *testing.T) {
	c := withOperator(t)
	base := fmt.Sprintf("squad-ns-%d", counter.Add(1))
	squad := teamOf(t, c, base+"-a", base+"-b")
	squad.Spec.Quotas = nil
	createReady(t, c, squad)
	t.Cleanup(func() { abandon(t, c, base+"-b") })
	bucket := bucketOf(base+"-b", "stays")
	createReady(t, c, bucket)
	edit(t, c, squad, func(s *v1alpha1.Team) { s.Spec.Namespaces = s.Spec.Namespaces[:1] })
	await(t, "the namespace to be let go", func() (bool, string) {
		ns := namespaceNamed(t, c, base+"-b")
		_, team := ns.Labels["portico.dev/team"]
		_, aws := ns.Labels["portico.dev/aws"]
		return !team && !aws, fmt.Sprint(ns.Labels)
	})
	for _, obj := range objectsOf(base + "-b") {
		awaitGone(t, c, obj)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(bucket), bucket); err != nil ||
		bucket.DeletionTimestamp != nil {
		t.Errorf("the bucket: %v, deleted %v", err, bucket.DeletionTimestamp)
	}
	awaitEvent(t, c, squad, "NamespaceReleased", base+"-b")
}

func TestATeamWithResourcesIsNotDeleted(t *testing.T) {
	c := withOperator(t)
	squad := teamOf(t, c)
	createReady(t, c, squad)
	bucket := bucketOf(squad.Name, "held")
	createReady(t, c, bucket)
	await(t, "the Team to count its bucket", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(squad), squad)
		return err == nil && squad.Status.Resources == 1, fmt.Sprint(squad.Status, err)
	})
	if err := c.Delete(t.Context(), squad); !apierrors.IsForbidden(err) ||
		!strings.Contains(err.Error(), "1 in "+squad.Name) {
		t.Fatalf("deleted with a bucket: %v", err)
	}
	gone(t, c, bucket)
	await(t, "the Team to be deleted", func() (bool, string) {
		err := client.IgnoreNotFound(c.Delete(t.Context(), squad))
		return err == nil, fmt.Sprint(err)
	})
	awaitGone(t, c, squad)
	ns := namespaceNamed(t, c, squad.Name)
	if _, kept := ns.Labels["portico.dev/team"]; kept || ns.DeletionTimestamp != nil {
		t.Errorf("the namespace of a team that is gone: %v, deleted %v", ns.Labels, ns.DeletionTimestamp)
	}
	for _, obj := range objectsOf(squad.Name) {
		awaitGone(t, c, obj)
	}
	awaitGone(t, c, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "portico:team:" + squad.Name}})
}

func TestATeamSaysWhichProviderItCannotUse(t *testing.T) {
	c := withOperator(t)
	squad := teamOf(t, c)
	squad.Spec.Providers = []v1alpha1.TeamProvider{{Name: "aws-nowhere"}}
	squad.Spec.Defaults = nil
	create(t, c, squad)
	if condition := reason(t, c, squad, v1alpha1.ReasonProviderNotFound); !strings.Contains(
		condition.Message, "aws-nowhere") {
		t.Errorf("%q", condition.Message)
	}
	edit(t, c, squad, func(s *v1alpha1.Team) {
		s.Spec.Providers = []v1alpha1.TeamProvider{{Name: "aws-local", Regions: []string{"mars-north-1"}}}
	})
	if condition := reason(t, c, squad, v1alpha1.ReasonRegionNotAllowed); !strings.Contains(
		condition.Message, "mars-north-1") {
		t.Errorf("%q", condition.Message)
	}
}
