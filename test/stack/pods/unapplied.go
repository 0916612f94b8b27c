package pods

import (
	"context"
	"fmt"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// RunUnapplied runs one Pod of each Deployment until ctx ends, and then stops it: for a cluster that has Nodes of its
// own, and not the images. Neither Deployments nor Pods are created there. Deployments of no replicas are ignored.
func (n *Node) RunUnapplied(ctx context.Context, deployments ...*appsv1.Deployment) error {
	defer n.work.Wait()
	for _, d := range deployments {
		if ptr.Deref(d.Spec.Replicas, 1) == 0 {
			continue
		}
		pod, err := n.unapplied(ctx, d)
		if err != nil {
			return err
		}
		n.start(ctx, pod)
	}
	<-ctx.Done()
	return nil
}

func (n *Node) start(ctx context.Context, spec *corev1.Pod) {
	p := newPod(spec, n.options, filepath.Join(n.options.Dir, spec.Name))
	p.unapplied = true
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pods[types.UID(spec.Name)] = p
	n.work.Go(func() { p.run(ctx) })
}

// unapplied returns the Pod that the controller of a Deployment would create. The API server sets the defaults, in a
// dry run under a generated name, because the cluster may have a Deployment of this name.
func (n *Node) unapplied(ctx context.Context, d *appsv1.Deployment) (*corev1.Pod, error) {
	asked := d.DeepCopy()
	asked.Name, asked.GenerateName = "", d.Name+"-"
	full, err := n.options.Clients.AppsV1().Deployments(d.Namespace).Create(ctx, asked,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil, fmt.Errorf("complete the Deployment %s with defaults, in a dry run: %w", d.Name, err)
	}
	template := &full.Spec.Template
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.Name = d.Namespace, template.Spec.Containers[0].Name
	mountAccount(&pod.Spec)
	return pod, nil
}

// mountAccount mounts the token of the ServiceAccount, as the API server does when a Pod is created.
func mountAccount(spec *corev1.PodSpec) {
	const volume, life = "kube-api-access", 3607
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: ptr.To[int64](life), Path: "token"}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}},
			}}},
		}},
	}})
	for i := range spec.Containers {
		spec.Containers[i].VolumeMounts = append(spec.Containers[i].VolumeMounts,
			corev1.VolumeMount{Name: volume, MountPath: accountPath})
	}
}
