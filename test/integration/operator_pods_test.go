//go:build integration

package integration

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func markedDeployment(ns string) *appsv1.Deployment {
	pods := map[string]string{v1alpha1.LabelWebApp: "stolen"}
	return &appsv1.Deployment{ObjectMeta: marked(ns, "stolen", "WebApp", "stolen"), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: pods},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pods}, Spec: corev1.PodSpec{
			ServiceAccountName: "stolen", AutomountServiceAccountToken: new(false),
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: new(true)},
			Volumes: []corev1.Volume{
				{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
			Containers: []corev1.Container{{Name: "app", Image: "app", SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{
					Drop: []corev1.Capability{"ALL"},
				},
			}}},
		}},
	}}
}

func hostPath(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: "/"},
	}}
}

func TestAStolenOperatorRunsNoPodsOfPower(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	base := markedDeployment(ns)
	with := func(change func(*corev1.PodSpec)) func(context.Context, client.Client) error {
		return creates(changed(base, func(d *appsv1.Deployment) { change(&d.Spec.Template.Spec) }))
	}
	secured := func(change func(*corev1.SecurityContext)) func(context.Context, client.Client) error {
		return with(func(p *corev1.PodSpec) { change(p.Containers[0].SecurityContext) })
	}
	// What an admin has added to one of Portico's Deployments stays, and is accepted with the next version; additions
	// are not.
	odd := changed(base, func(d *appsv1.Deployment) {
		d.Name, d.OwnerReferences[0].Name, d.Spec.Template.Spec.ServiceAccountName = "odd", "odd", "odd"
		p := &d.Spec.Template.Spec
		p.HostPID, p.Volumes = true, append(p.Volumes, hostPath("logs"))
		p.Containers = append(p.Containers,
			corev1.Container{Name: "agent", Image: "agent", SecurityContext: &corev1.SecurityContext{
				Privileged: new(true),
			}})
	})
	odd.OwnerReferences = []metav1.OwnerReference{ownerOf(t, c, ns, "odd")}
	create(t, c, odd.DeepCopy())
	node, power := "share no network, processes or IPC", "no privileges and no capabilities"
	judge(t, c, map[string]attempt{
		"a Deployment, as the operator makes it": {creates(base), ""},
		"in kube-system":                         {creates(changed(base, func(d *appsv1.Deployment) { d.Namespace = "kube-system" })), "which is a namespace of the system"},
		"with the node's files":                  {with(func(p *corev1.PodSpec) { p.Volumes = append(p.Volumes, hostPath("root")) }), "and not: root"},
		"with a token of its account": {with(func(p *corev1.PodSpec) {
			p.Volumes = []corev1.Volume{
				{Name: "t", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
					Sources: []corev1.VolumeProjection{
						{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t"}},
					},
				}}},
			}
		}), "and not: t"},
		"with its token mounted":     {with(func(p *corev1.PodSpec) { p.AutomountServiceAccountToken = nil }), "no token of it"},
		"as another account":         {with(func(p *corev1.PodSpec) { p.ServiceAccountName = "deployer" }), "the ServiceAccount of its name"},
		"in the node's network":      {with(func(p *corev1.PodSpec) { p.HostNetwork = true }), node},
		"among the node's processes": {with(func(p *corev1.PodSpec) { p.HostPID = true }), node},
		"in the node's IPC":          {with(func(p *corev1.PodSpec) { p.HostIPC = true }), node},
		"on a node of its choice":    {with(func(p *corev1.PodSpec) { p.NodeName = "node-0" }), node},
		"as root":                    {with(func(p *corev1.PodSpec) { p.SecurityContext = nil }), "do not run as root"},
		"with sysctls": {with(func(p *corev1.PodSpec) {
			p.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "kernel.msgmax", Value: "1"}}
		}), "set no sysctls"},
		"privileged":            {secured(func(s *corev1.SecurityContext) { s.AllowPrivilegeEscalation, s.Privileged = nil, new(true) }), power},
		"with a capability":     {secured(func(s *corev1.SecurityContext) { s.Capabilities.Add = []corev1.Capability{"SYS_ADMIN"} }), power},
		"with all capabilities": {secured(func(s *corev1.SecurityContext) { s.Capabilities = nil }), power},
		"a container as root":   {secured(func(s *corev1.SecurityContext) { s.RunAsNonRoot = new(false) }), power},
		"without seccomp": {secured(func(s *corev1.SecurityContext) {
			s.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}
		}), power},
		"a first container with power": {with(func(p *corev1.PodSpec) {
			p.InitContainers = []corev1.Container{
				{Name: "init", Image: "init", SecurityContext: &corev1.SecurityContext{Privileged: new(true)}},
			}
		}), power},
		"on a port of the node": {with(func(p *corev1.PodSpec) {
			p.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		}), "no ports of their node"},

		"the next version beside what an admin put in": {patches(odd, `{"metadata":{"annotations":{"a":"b"}},"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`), ""},
		"more of the node than an admin put in":        {patches(odd, `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`), node},
		"another path than an admin put in":            {patches(odd, `{"spec":{"template":{"spec":{"volumes":[{"name":"logs","hostPath":{"path":"/etc"}}]}}}}`), "and not: logs"},
		"the admin's power for another":                {patches(odd, `{"spec":{"template":{"spec":{"containers":[{"name":"mine","image":"x","securityContext":{"privileged":true}}]}}}}`), power},
	})
}
