package team

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

func growth() *v1alpha1.Team {
	return &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: "growth", UID: "uid"}, Spec: v1alpha1.TeamSpec{
		Isolation: v1alpha1.TeamIsolation{PodSecurity: "Restricted"},
		Members: []v1alpha1.TeamMember{
			{
				Group: "oidc:a",
				Role:  v1alpha1.TeamDeveloper,
			},
			{Group: "oidc:a", Role: v1alpha1.TeamOwner},
			{User: "oidc:a", Role: v1alpha1.TeamOwner},
		},
	}}
}

func TestQuotasAreNamedAsKubernetesDoes(t *testing.T) {
	hard := hardLimits(&v1alpha1.TeamQuotas{
		CPU: new(resource.MustParse("20")), Memory: new(resource.MustParse("1Gi")),
		Storage: new(resource.MustParse("5Gi")), Pods: new(int32(0)),
		Resources: []v1alpha1.KindQuota{
			{Kind: v1alpha1.KindSQSQueue, Max: 3},
			{Kind: v1alpha1.KindGatewayHostnameRequest, Max: 0},
		},
	})
	want := map[corev1.ResourceName]string{
		"requests.cpu": "20", "requests.memory": "1Gi", "requests.storage": "5Gi", "pods": "0",
		"count/sqsqueues.portico.dev": "3", "count/gatewayhostnamerequests.portico.dev": "0",
	}
	for name, amount := range want {
		if got := hard[name]; got.String() != amount {
			t.Errorf("%s is %s, want %s", name, got.String(), amount)
		}
	}
	if len(hard) != len(want) || len(hardLimits(nil)) != 0 {
		t.Errorf("%v; %v", hard, hardLimits(nil))
	}
}

func TestContainerLimitsAreThoseThatAreSaid(t *testing.T) {
	if got := containerLimits(&v1alpha1.ContainerLimits{}); got != nil {
		t.Errorf("%v of nothing", got)
	}
	got := containerLimits(&v1alpha1.ContainerLimits{
		Max: &v1alpha1.CPUAndMemory{Memory: new(resource.MustParse("2Gi"))}, Default: &v1alpha1.CPUAndMemory{},
	})
	if got == nil || got.Default != nil || got.DefaultRequest != nil {
		t.Fatalf("limits = %v, want a maximum only", got)
	}
	if len(*got.Max) != 1 {
		t.Errorf("Max = %v, want one", *got.Max)
	}
}

func TestTheNetworkIsTheTeamsOwn(t *testing.T) {
	team := growth()
	policy := networkPolicy(team, "growth", nil)
	if len(policy.Spec.Ingress) != 1 ||
		policy.Spec.Ingress[0].From[0].NamespaceSelector.MatchLabels[v1alpha1.LabelTeam] != "growth" {
		t.Errorf("who reaches it: %v", policy.Spec.Ingress)
	}
	outside := policy.Spec.Egress[len(policy.Spec.Egress)-1].To
	if *outside[0].IPBlock.CIDR != "0.0.0.0/0" || !slices.Contains(outside[0].IPBlock.Except, "10.0.0.0/8") ||
		!slices.Contains(outside[0].IPBlock.Except, "169.254.0.0/16") {
		t.Errorf("what it reaches: %v", outside)
	}
	team.Spec.Isolation.AllowTo, team.Spec.Isolation.AllowFrom = []string{"10.1.0.0/16"},
		[]string{"10.2.0.0/16", "10.3.0.0/16"}
	policy = networkPolicy(team, "growth", nil)
	if outside = policy.Spec.Egress[len(policy.Spec.Egress)-1].To; len(outside) != 1 ||
		*outside[0].IPBlock.CIDR != "10.1.0.0/16" {
		t.Errorf("what it reaches: %v", outside)
	}
	if len(policy.Spec.Ingress) != 2 || len(policy.Spec.Ingress[1].From) != 2 {
		t.Errorf("who reaches it: %v", policy.Spec.Ingress)
	}
}

// The Pods of an IPv6 EKS cluster have global addresses: the networks that admins configure are excluded from what a
// team can reach there.
func TestTheClustersOwnNetworksAreNotTheInternet(t *testing.T) {
	networks := []netip.Prefix{
		netip.MustParsePrefix("2600:1f14:abc::/56"), netip.MustParsePrefix("203.0.113.0/24"),
		netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("10.0.0.0/8"),
	}
	policy := networkPolicy(growth(), "growth", networks)
	outside := policy.Spec.Egress[len(policy.Spec.Egress)-1].To
	if got := outside[0].IPBlock.Except; !slices.Equal(got, append(slices.Clone(privateNetworks), "203.0.113.0/24")) {
		t.Errorf("of IPv4 it reaches all but %q", got)
	}
	if got := outside[1].IPBlock; *got.CIDR != "2000::/3" || !slices.Equal(got.Except, []string{"2600:1f14:abc::/56"}) {
		t.Errorf("of IPv6 it reaches all of %s but %q", *got.CIDR, got.Except)
	}
}

func TestEverybodyOfASuspendedTeamIsAViewer(t *testing.T) {
	p := &pass{team: growth()}
	count := func(role v1alpha1.TeamRole) int {
		return len(p.subjects(func(r v1alpha1.TeamRole) bool { return p.effective(r) == role }))
	}
	counts := func() []int {
		return []int{count(v1alpha1.TeamViewer), count(v1alpha1.TeamDeveloper), count(v1alpha1.TeamOwner)}
	}
	if got, want := counts(), []int{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("viewers, developers, owners = %d, want %d", got, want)
	}
	p.team.Spec.Suspended = true
	if got, want := counts(), []int{2, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("of a suspended team: viewers, developers, owners = %d, want %d", got, want)
	}
}

func TestBindingsBesideASuspendedTeamAreNamed(t *testing.T) {
	p := &pass{team: growth()}
	p.team.Spec.Suspended, p.System, p.kept = true, []string{"portico-system"}, []string{"growth", "growth-prod"}
	binding := func(namespace, name, kind, role string, subjects ...rbacv1.Subject) *rbacv1.RoleBinding {
		return &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, RoleRef: rbacv1.RoleRef{
				Kind: kind, Name: role,
			}, Subjects: subjects,
		}
	}
	ci := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "growth", Name: "ci"}
	ann, ops := rbacv1.Subject{Kind: rbacv1.UserKind, Name: "oidc:ann"},
		rbacv1.Subject{Kind: rbacv1.GroupKind, Name: "oidc:ops"}
	own := binding("growth", "portico-developer", "ClusterRole", "portico-developer", ops)
	own.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(p.team, v1alpha1.GroupVersion.WithKind(v1alpha1.KindTeam)),
	}
	quiet := []client.Object{
		own, binding("growth", "lookers", "ClusterRole", "portico-viewer", ann),
		binding("growth", "kube-lookers", "ClusterRole", "view", ann),
		binding("growth", "nobody", "ClusterRole", "admin"), binding("elsewhere", "ci", "ClusterRole", "admin", ci),
		binding("growth", "portico-tools", "ClusterRole", "portico-tools",
			rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "portico-system", Name: "portico-impersonator"}),
	}
	loud := []client.Object{
		binding("growth-prod", "deploy", "ClusterRole", "portico-developer", ci, ann),
		binding("growth", "view", "Role", "view", ops),
	}
	const only = "3 members can only look: the team is suspended"
	for want, all := range map[string][]client.Object{
		only: quiet,
		only + ". RoleBindings that others made go on: deploy in growth-prod (ClusterRole portico-developer of " +
			"ServiceAccount growth/ci and user oidc:ann), view in growth (Role view of group oidc:ops). " +
			"Delete those that are meant to end, too": slices.Concat(quiet, loud),
	} {
		p.APIReader = fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(all...).Build()
		if got, err := p.suspended(t.Context()); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}

func TestMarksOfOthersStay(t *testing.T) {
	p := &pass{team: growth()}
	got, _ := p.marks("growth",
		map[string]string{"theirs": "x", v1alpha1.LabelAWS: "allowed", v1alpha1.LabelTeam: "old"})
	want := map[string]string{
		"theirs": "x", v1alpha1.LabelTeam: "growth", labelPodSecurity: "restricted",
		labelPodWarning: "restricted",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if diffs := differing(map[string]string{"a": "1", "b": "1", "c": "1"},
		map[string]string{"a": "1", "b": "2", "d": "1"}); strings.Join(diffs, " ") != "b c d" {
		t.Errorf("%v", diffs)
	}
}

// What an AWSProvider reports appears for the namespaces that it allows, and for no others.
func TestWhatAnAWSAccountSaysIsTold(t *testing.T) {
	p := &pass{team: growth()}
	p.team.Spec.Providers = []v1alpha1.TeamProvider{{Name: "main"}, {Name: "gone"}}
	main := v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "main"}}
	main.Spec.Region, main.Spec.Guardrails = "eu-west-1", &v1alpha1.Guardrails{AllowedInstanceTypes: []string{"t3.*"}}
	main.Spec.AllowedNamespaces = &metav1.LabelSelector{MatchLabels: map[string]string{"stage": "test"}}
	p.offered = []v1alpha1.AWSProvider{main}
	const lists = "provider main\nprovider gone"
	for stage, want := range map[string]string{
		"test": lists + "\n@main allowedInstanceTypes t3.*\n@main region eu-west-1", "live": lists,
	} {
		if _, notes := p.marks("growth", map[string]string{
			"stage": stage,
		}); notes[v1alpha1.AnnotationGuardrails] != want {
			t.Errorf("%s: %q, want %q", stage, notes[v1alpha1.AnnotationGuardrails], want)
		}
	}
}

func TestTheFirstOfSeveralErrorsIsTold(t *testing.T) {
	var failed firstError
	failed.add(nil)
	failed.add(engine.Blocked("One", "the first"))
	failed.add(engine.Blocked("Two", "the second"))
	wait, ok := engine.AsWait(failed.err())
	if !ok || wait.Reason != "One" || wait.Error() != "the first (and 1 more)" {
		t.Errorf("%v", failed.err())
	}
}
