//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// teamsNetwork is the spec of the network policy of a Team with default settings.
const teamsNetwork = `
podSelector: {}
policyTypes: [Ingress, Egress]
ingress:
- from: [{namespaceSelector: {matchLabels: {portico.dev/team: TEAM}}}]
egress:
- to: [{namespaceSelector: {matchLabels: {portico.dev/team: TEAM}}}]
- to:
  - {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}, podSelector: {matchLabels: {k8s-app: kube-dns}}}
  - {ipBlock: {cidr: 169.254.20.10/32}}
  ports: [{protocol: UDP, port: 53}, {protocol: TCP, port: 53}]
- to: [{ipBlock: {cidr: 169.254.170.23/32}}]
  ports: [{protocol: TCP, port: 80}]
- to:
  - ipBlock:
      cidr: 0.0.0.0/0
      except: [10.0.0.0/8, 100.64.0.0/10, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
  - {ipBlock: {cidr: "2000::/3"}}
`

// isolated fails unless the namespace of a Team from teamOf has the network policy, the hostname grant, the Pod
// Security level, the limits and the quota of its Team.
func isolated(t *testing.T, c client.Client, squad *v1alpha1.Team) {
	t.Helper()
	policy, want := &networkingv1.NetworkPolicy{}, networkingv1.NetworkPolicySpec{}
	if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(teamsNetwork, "TEAM", squad.Name)), &want); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: squad.Name, Name: "portico-team"}, policy); err != nil ||
		!equality.Semantic.DeepEqual(policy.Spec, want) {
		t.Errorf("the network is %+v, want %+v: %v", policy.Spec, want, err)
	}
	grant := &v1alpha1.HostnameGrant{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: squad.Name, Name: "hostnames"}, grant); err != nil ||
		!equality.Semantic.DeepEqual(grant.Spec, *squad.Spec.Hostnames) {
		t.Errorf("the hostnames are %+v, want %+v: %v", grant.Spec, squad.Spec.Hostnames, err)
	}
	// None of Portico's roles allows creating Pods: a cluster admin has given the members one that does.
	create(t, c, &rbacv1.Role{
		ObjectMeta: meta1(squad.Name, "runs-pods"), Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}},
		},
	})
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: meta1(squad.Name, "runs-pods"), RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "Role", Name: "runs-pods",
		},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "oidc:squad"}},
	})
	member := as(t, "oidc:dev", "oidc:squad")
	run := func(change func(*corev1.PodSpec)) (*corev1.Pod, error) {
		pod := modestPod(squad.Name)
		change(&pod.Spec)
		return pod, member.Create(t.Context(), pod, client.DryRunAll)
	}
	var made *corev1.Pod
	await(t, "a Pod that asks for nothing to be let in", func() (bool, string) {
		var err error
		made, err = run(func(*corev1.PodSpec) {})
		return err == nil, fmt.Sprint(err)
	})
	if got := made.Spec.Containers[0].Resources.Requests.Cpu(); got.Cmp(resource.MustParse("100m")) != 0 {
		t.Errorf("a container that asks for nothing gets %s of CPU, want 100m", got)
	}
	for words, change := range map[string]func(*corev1.PodSpec){
		"violates PodSecurity \"restricted:latest\": privileged": func(s *corev1.PodSpec) {
			s.Containers[0].SecurityContext.Privileged, s.Containers[0].SecurityContext.AllowPrivilegeEscalation = new(
				true), nil
		},
		"violates PodSecurity \"restricted:latest\": host namespaces": func(s *corev1.PodSpec) { s.HostNetwork = true },
		"exceeded quota: portico-team, requested: requests.cpu=21": func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("21")}
		},
	} {
		if _, err := run(change); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want it refused as %q", err, words)
		}
	}
}

// modestPod returns a Pod that meets the level Restricted and requests no resources.
func modestPod(ns string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: meta1(ns, "modest"), Spec: corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{
			Type: corev1.SeccompProfileTypeRuntimeDefault,
		}},
		Containers: []corev1.Container{{
			Name: "app", Image: "registry.example.com/shop:1.0.0",
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false),
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}}
}
