//go:build integration

package integration

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// bindEverywhere binds a ClusterRole to a user in the whole cluster until the test ends.
func bindEverywhere(t *testing.T, c client.Client, role, user string) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: "test-",
		},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	create(t, c, binding)
	t.Cleanup(func() { release(context.Background(), t, c, binding) })
}

func TestOwnersChangeTheMembersAndNothingElse(t *testing.T) {
	c := withOperator(t)
	squad := teamOf(t, c)
	createReady(t, c, squad)
	owner := as(t, "oidc:boss")
	merge := func(who client.Client, text string) error {
		return who.Patch(t.Context(), &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: squad.Name}},
			client.RawPatch(types.MergePatchType, []byte(text)))
	}
	await(t, "the owner to have the role", func() (bool, string) {
		err := merge(
			owner, `{"spec":{"members":[{"user":"oidc:boss","role":"Owner"},{"user":"oidc:new","role":"Developer"}]}}`)
		return err == nil, fmt.Sprint(err)
	})
	await(t, "the new member to be bound", func() (bool, string) {
		b := &rbacv1.RoleBinding{}
		err := c.Get(t.Context(), client.ObjectKey{Namespace: squad.Name, Name: "portico-developer"}, b)
		return err == nil && len(b.Subjects) == 1 && b.Subjects[0].Name == "oidc:new", fmt.Sprint(b.Subjects, err)
	})
	for field, text := range map[string]string{
		"spec.providers":  `{"spec":{"providers":[{"name":"aws-local"},{"name":"another"}]}}`,
		"spec.quotas":     `{"spec":{"quotas":null}}`,
		"spec.hostnames":  `{"spec":{"hostnames":{"suffixes":["example.com"]}}}`,
		"spec.isolation":  `{"spec":{"isolation":{"network":"Open"}}}`,
		"spec.namespaces": `{"spec":{"namespaces":[{"name":"somewhere"}]}}`,
		"spec.suspended":  `{"spec":{"suspended":true}}`,
		"spec.title":      `{"spec":{"title":"Another"}}`,
		"spec.contact":    `{"spec":{"contact":"boss@example.com"}}`,
		"spec.guardrails": `{"spec":{"guardrails":{"requirePrivateBuckets":true}}}`,
		"spec.defaults":   `{"spec":{"defaults":{"provider":"aws-local","tags":{"cost":"others"}}}}`,
		"labels":          `{"metadata":{"labels":{"a":"b"}}}`,
		"annotations":     `{"metadata":{"annotations":{"portico.dev/paused":"true"}}}`,
		"finalizers":      `{"metadata":{"finalizers":null}}`,
	} {
		if err := merge(owner, text); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), field) ||
			!strings.Contains(err.Error(), "ask a platform admin") {
			t.Errorf("an owner changes %s: %v", field, err)
		}
	}
	if err := merge(as(t, "oidc:dev", "oidc:squad"), `{"spec":{"members":null}}`); !apierrors.IsForbidden(err) {
		t.Errorf("a developer changes the members: %v", err)
	}
	if err := owner.Get(t.Context(), client.ObjectKeyFromObject(squad), &v1alpha1.Team{}); err != nil {
		t.Errorf("an owner looks: %v", err)
	}
	if err := owner.List(t.Context(), &v1alpha1.TeamList{}); !apierrors.IsForbidden(err) {
		t.Errorf("an owner lists all teams: %v", err)
	}
	if err := owner.Delete(t.Context(), squad); !apierrors.IsForbidden(err) {
		t.Errorf("an owner deletes the team: %v", err)
	}
	bindEverywhere(t, c, "portico-admin", "oidc:admin")
	await(t, "an admin to change all of it", func() (bool, string) {
		err := merge(as(t, "oidc:admin"), `{"spec":{"title":"Another","quotas":null}}`)
		return err == nil, fmt.Sprint(err)
	})
}

func TestOnlyAdminsSayWhichTeamHasANamespace(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	create(t, c, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "test-labels-namespaces"},
		Rules: []rbacv1.PolicyRule{
			{
				APIGroups: []string{""}, Resources: []string{"namespaces", "namespaces/status", "namespaces/finalize"},
				Verbs: []string{"*"},
			},
		},
	})
	t.Cleanup(func() {
		release(context.Background(), t, c, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "test-labels-namespaces"},
		})
	})
	bindEverywhere(t, c, "test-labels-namespaces", "oidc:labeller")
	labeller := as(t, "oidc:labeller")
	merge := func(who client.Client, text string) error {
		return who.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}},
			client.RawPatch(types.MergePatchType, []byte(text)))
	}
	await(t, "the right on namespaces", func() (bool, string) {
		err := merge(labeller, `{"metadata":{"labels":{"theirs":"yes"}}}`)
		return err == nil, fmt.Sprint(err)
	})
	for _, text := range []string{
		`{"metadata":{"labels":{"portico.dev/team":"payments"}}}`, `{"metadata":{"labels":{"portico.dev/aws":null}}}`,
		`{"metadata":{"labels":{"portico.dev/aws":"other"}}}`,
		`{"metadata":{"labels":{"portico.dev/routes":"unrestricted"}}}`,
		`{"metadata":{"annotations":{"portico.dev/team-uid":"x"}}}`,
		`{"metadata":{"annotations":{"portico.dev/default-provider":"x"}}}`,
	} {
		if err := merge(labeller, text); !apierrors.IsForbidden(err) ||
			!strings.Contains(err.Error(), "ask a platform admin") {
			t.Errorf("%s: %v", text, err)
		}
	}
	whole := namespaceNamed(t, c, ns)
	whole.Labels["portico.dev/team"] = "payments"
	if err := labeller.SubResource("status").Update(t.Context(), whole); !apierrors.IsForbidden(err) {
		t.Errorf("by the status: %v", err)
	}
	if err := finalize(t, ns, map[string]string{"portico.dev/team": "payments"},
		"oidc:labeller"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "ask a platform admin") {
		t.Errorf("by the finalizers: %v", err)
	}
	// the user has the permission itself
	if err := finalize(t, ns, map[string]string{"theirs": "again"}, "oidc:labeller"); err != nil {
		t.Errorf("another label by the finalizers: %v", err)
	}
	named := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: ns + "-new", Labels: map[string]string{"portico.dev/team": "payments"}},
	}
	if err := labeller.Create(t.Context(), named); !apierrors.IsForbidden(err) {
		t.Errorf("a new namespace of another team: %v", err)
	}
}

// finalize updates a namespace with these labels through namespaces/finalize, as the user.
func finalize(t *testing.T, name string, labels map[string]string, user string) error {
	t.Helper()
	cfg := rest.CopyConfig(world.Admin)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	k, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ns, err := k.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(ns.Labels, labels)
	_, err = k.CoreV1().Namespaces().Finalize(t.Context(), ns, metav1.UpdateOptions{})
	return err
}

// TestAStolenOperatorIssuesNoOtherTokens tries to create tokens of ServiceAccounts with the operator's account: only
// those of deployers, and only short ones.
func TestAStolenOperatorIssuesNoOtherTokens(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	cfg, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-operator")
	if err != nil {
		t.Fatal(err)
	}
	// The policy refuses them even if somebody gives it the right to all tokens.
	for _, place := range []string{ns, stack.Namespace} {
		role := &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: unique("tokens")},
			Rules: []rbacv1.PolicyRule{
				{APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"}, Verbs: []string{"create"}},
			},
		}
		create(t, c, role)
		create(t, c, &rbacv1.RoleBinding{
			ObjectMeta: meta1(place, role.Name),
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			Subjects: []rbacv1.Subject{
				{Kind: rbacv1.ServiceAccountKind, Namespace: stack.Namespace, Name: "portico-operator"},
			},
		})
	}
	own, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	create(
		t,
		c,
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: "squad.release"}},
	)
	ask := func(namespace, name string, seconds int64) error {
		_, err := own.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
		}, metav1.CreateOptions{})
		return err
	}
	for name, c := range map[string]struct {
		namespace, account string
		seconds            int64
	}{
		"a Pod's":        {ns, "default", 600},
		"its own":        {stack.Namespace, "portico-operator", 600},
		"the portal's":   {stack.Namespace, "portico-portal", 600},
		"one for longer": {deploy.Namespace, "squad.release", 3600},
	} {
		if err := ask(c.namespace, c.account, c.seconds); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	await(t, "a token of a deployer", func() (bool, string) {
		err := ask(deploy.Namespace, "squad.release", 900)
		return err == nil, fmt.Sprint(err)
	})
}

// What the operator writes for Teams is allowed, and what a thief of its token could try is refused.
func TestAStolenOperatorOnboardsNobodyElse(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	given := team(t, c)
	edit(t, c, namespaceNamed(t, c, given), func(n *corev1.Namespace) { n.Labels["portico.dev/team"] = "squad" })
	binding := &rbacv1.RoleBinding{
		ObjectMeta: marked(ns, "portico-developer", "Team", "squad"), RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-developer",
		},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "oidc:squad"}},
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: marked("", "portico:team:squad", "Team", "squad"),
		Rules: []rbacv1.PolicyRule{
			{
				APIGroups:     []string{"portico.dev"},
				Resources:     []string{"teams"},
				ResourceNames: []string{"squad"},
				Verbs:         []string{"get"},
			},
		},
	}
	everywhere := &rbacv1.ClusterRoleBinding{
		ObjectMeta: marked("", "portico:team:squad", "Team", "squad"), RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico:team:squad",
		},
		Subjects: binding.Subjects,
	}
	fresh := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: ns + "-fresh", Labels: map[string]string{"portico.dev/team": "squad"}, Annotations: map[string]string{
			"portico.dev/team-uid": "x",
		},
	}}
	theirs, mine := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: given}}
	judge(t, c, map[string]attempt{
		"a RoleBinding, as it is made": {creates(binding), ""},
		"a ClusterRole, as it is made": {creates(role), ""},
		"a namespace, as it is made":   {creates(fresh), ""},
		"a namespace of a team, as it is marked": {
			patches(
				mine,
				`{"metadata":{"annotations":{"portico.dev/team-uid":"x"},"labels":{"portico.dev/aws":"allowed"}}}`,
			),
			"",
		},
		"a quota, as it is made": {
			creates(&corev1.ResourceQuota{ObjectMeta: marked(ns, "portico-team", "Team", "squad")}),
			"",
		},
		"a network policy, as it is made": {
			creates(&networkingv1.NetworkPolicy{ObjectMeta: marked(ns, "portico-team", "Team", "squad")}),
			"",
		},
		"a RoleBinding of cluster-admin": {
			creates(changed(binding, func(b *rbacv1.RoleBinding) { b.RoleRef.Name = "cluster-admin" })),
			"has not the name, or the role",
		},
		"a RoleBinding of another name": {
			creates(changed(binding, func(b *rbacv1.RoleBinding) { b.Name, b.RoleRef.Name = "x", "cluster-admin" })),
			"has not the name, or the role",
		},
		"a RoleBinding in kube-system": {
			creates(changed(binding, func(b *rbacv1.RoleBinding) { b.Namespace = "kube-system" })),
			"namespace of the system",
		},
		"a RoleBinding in portico-system": {
			creates(changed(binding, func(b *rbacv1.RoleBinding) { b.Namespace = "portico-system" })),
			"namespace of the system",
		},
		"a RoleBinding without a Team": {
			creates(changed(binding, func(b *rbacv1.RoleBinding) { b.OwnerReferences = nil })),
			"belongs to no object of Portico",
		},
		"a RoleBinding of a WebApp": {
			creates(changed(binding, func(b *rbacv1.RoleBinding) { b.OwnerReferences[0].Kind = "WebApp" })),
			"kind of owner",
		},
		"a RoleBinding of a ServiceAccount": {creates(changed(binding, func(b *rbacv1.RoleBinding) {
			b.Subjects = []rbacv1.Subject{{Kind: "ServiceAccount", Name: "x", Namespace: ns}}
		})), "of the system"},
		"a RoleBinding of everybody": {
			creates(changed(binding, func(b *rbacv1.RoleBinding) { b.Subjects[0].Name = "system:authenticated" })),
			"of the system",
		},
		"a ClusterRole of everything": {
			creates(changed(role, func(r *rbacv1.ClusterRole) { r.Rules[0].ResourceNames = nil })),
			"gives more than",
		},
		"a ClusterRole about another team": {
			creates(changed(role, func(r *rbacv1.ClusterRole) { r.Rules[0].ResourceNames = []string{"payments"} })),
			"gives more than",
		},
		"a ClusterRole that deletes": {
			creates(changed(role, func(r *rbacv1.ClusterRole) { r.Rules[0].Verbs = []string{"delete"} })),
			"gives more than",
		},
		"a ClusterRole of another name": {
			creates(changed(role, func(r *rbacv1.ClusterRole) { r.Name = "portico-admin-2" })),
			"has not the name, or the role",
		},
		"a ClusterRoleBinding of cluster-admin": {
			creates(changed(everywhere, func(b *rbacv1.ClusterRoleBinding) { b.RoleRef.Name = "cluster-admin" })),
			"another role than that of its Team",
		},
		"a ClusterRoleBinding of portico-admin": {
			creates(changed(everywhere, func(b *rbacv1.ClusterRoleBinding) { b.RoleRef.Name = "portico-admin" })),
			"another role than that of its Team",
		},
		"the role of admins": {
			patches(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "portico-admin"}}, `{"rules":[]}`),
			"belongs to no object of Portico",
		},
		"a namespace of nobody": {
			creates(changed(fresh, func(n *corev1.Namespace) { n.Labels = nil })),
			"no namespace of a Team",
		},
		"kube-system": {
			patches(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}},
				`{"metadata":{"labels":{"portico.dev/team":"squad"}}}`), "no namespace of a Team",
		},
		"a namespace that was not given": {
			patches(theirs, `{"metadata":{"labels":{"portico.dev/team":"squad"}}}`),
			"no namespace of a Team",
		},
		"a namespace of a team, freed of its policies": {
			patches(mine, `{"metadata":{"labels":{"portico.dev/routes":"unrestricted"}}}`),
			"only the labels and annotations of its Team",
		},
		"a namespace of a team, with a former UID": {
			patches(mine, `{"metadata":{"annotations":{"portico.dev/former-uid":"x"}}}`),
			"only the labels and annotations of its Team",
		},
		"the deletion of a namespace": {deletes(mine), "does not delete"},
		"the spec of a Team": {
			creates(&v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: "stolen"}}),
			"that is for people",
		},
	})
}

// Only platform admins can set the annotation that gives a namespace what another one had in a lost cluster, through
// any subresource. Namespaces can still be finalized.
func TestNobodyGivesANamespaceAFormerUID(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	create(t, c, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "test-former"},
		Rules: []rbacv1.PolicyRule{
			{
				APIGroups: []string{""}, Resources: []string{"namespaces", "namespaces/status", "namespaces/finalize"},
				Verbs: []string{"*"},
			},
		},
	})
	t.Cleanup(func() {
		release(context.Background(), t, c, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "test-former"}})
	})
	bindEverywhere(t, c, "test-former", "oidc:former")
	who := as(t, "oidc:former")
	await(t, "the right on namespaces", func() (bool, string) {
		err := who.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}},
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"theirs":"yes"}}}`)))
		return err == nil, fmt.Sprint(err)
	})
	for _, sub := range []string{"", "status", "finalize"} {
		whole := namespaceNamed(t, c, ns)
		if whole.Annotations == nil {
			whole.Annotations = map[string]string{}
		}
		whole.Annotations["portico.dev/former-uid"] = "theirs"
		var err error
		if sub == "" {
			err = who.Update(t.Context(), whole)
		} else {
			err = who.SubResource(sub).Update(t.Context(), whole)
		}
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "portico.dev/former-uid gives back") {
			t.Errorf("by %q: %v", sub, err)
		}
	}
	whole := namespaceNamed(t, c, ns)
	if err := who.SubResource("status").Update(t.Context(), whole); err != nil {
		t.Errorf("a status that leaves it alone: %v", err)
	}
	if err := who.SubResource("finalize").Update(t.Context(), whole); err != nil {
		t.Errorf("the namespace controller's way: %v", err)
	}
}
