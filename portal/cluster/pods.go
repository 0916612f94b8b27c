package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/podlogs"
)

const (
	// managedBy is the label that the operator sets on the workloads it creates, Pods included.
	managedBy, portico = "app.kubernetes.io/managed-by", "portico"
	// maxPodEvents bounds the events that are shown about one Pod.
	maxPodEvents = 50
	// maxPodText bounds each text of a Pod's status in the cache.
	maxPodText = 512
)

// Pods returns the Pods of app, newest first; they are shared with the cache and hold only what trimPod leaves. The
// caller needs the right to list Pods in the namespace; the termination messages of containers need the right to read
// logs.
func (c *Cluster) Pods(ctx context.Context, id auth.Identity, app *unstructured.Unstructured) ([]*corev1.Pod, error) {
	if err := c.access.require(ctx, id, ListPods.In(app.GetNamespace())); err != nil {
		return nil, err
	}
	var list corev1.PodList
	mine := client.MatchingLabels{v1alpha1.LabelWebApp: app.GetName()}
	if len(validation.IsValidLabelValue(app.GetName())) > 0 {
		return nil, nil // a name that is no valid label value has no Pods
	}
	if err := c.cache.List(ctx, &list, client.InNamespace(app.GetNamespace()), mine); err != nil {
		return nil, &UnavailableError{Doing: "reading the cache of pods", Cause: err}
	}
	words, err := c.access.allowed(ctx, id, GetLogs.In(app.GetNamespace()))
	if err != nil {
		return nil, err
	}
	out := make([]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		if out[i] = &list.Items[i]; !words {
			out[i] = withoutWords(out[i])
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// withoutWords returns a copy of a Pod without the termination messages of its containers, which can hold anything, as
// logs can.
func withoutWords(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	for _, all := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range all {
			for _, t := range []*corev1.ContainerStateTerminated{
				all[i].State.Terminated, all[i].LastTerminationState.Terminated,
			} {
				if t != nil {
					t.Message = ""
				}
			}
		}
	}
	return pod
}

// webAppPods selects the Pods that the operator manages: others never reach the portal.
func webAppPods() labels.Selector { return labels.SelectorFromSet(labels.Set{managedBy: portico}) }

// trimPod keeps of a Pod only what is shown: no environment, no volumes, no annotations, no addresses.
func trimPod(in any) (any, error) {
	p, ok := in.(*corev1.Pod)
	if !ok {
		return in, nil // a tombstone
	}
	out := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: p.Name, Namespace: p.Namespace, UID: p.UID, ResourceVersion: p.ResourceVersion,
			CreationTimestamp: p.CreationTimestamp, DeletionTimestamp: p.DeletionTimestamp,
			Labels: map[string]string{
				managedBy:            p.Labels[managedBy],
				v1alpha1.LabelWebApp: p.Labels[v1alpha1.LabelWebApp],
			},
		},
		Spec: corev1.PodSpec{
			NodeName: p.Spec.NodeName, Containers: trimContainers(p.Spec.Containers), InitContainers: trimContainers(
				p.Spec.InitContainers),
		},
		Status: corev1.PodStatus{
			Phase: p.Status.Phase, Reason: short(p.Status.Reason), Message: short(p.Status.Message),
			StartTime:         p.Status.StartTime,
			ContainerStatuses: trimStatuses(p.Status.ContainerStatuses), InitContainerStatuses: trimStatuses(
				p.Status.InitContainerStatuses),
		},
	}
	for _, c := range p.Status.Conditions {
		c.Message = short(c.Message)
		out.Status.Conditions = append(out.Status.Conditions, c)
	}
	return out, nil
}

func trimContainers(all []corev1.Container) []corev1.Container {
	out := make([]corev1.Container, 0, len(all))
	for i := range all {
		r := all[i].Resources
		out = append(out, corev1.Container{
			Name: all[i].Name, Image: all[i].Image, Resources: corev1.ResourceRequirements{
				Requests: r.Requests, Limits: r.Limits,
			},
		})
	}
	return out
}

func trimStatuses(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	out := make([]corev1.ContainerStatus, 0, len(all))
	for i := range all {
		s := &all[i]
		out = append(out, corev1.ContainerStatus{
			Name: s.Name, Ready: s.Ready, RestartCount: s.RestartCount, Image: s.Image,
			State: trimState(s.State), LastTerminationState: trimState(s.LastTerminationState),
		})
	}
	return out
}

// trimState keeps only the last line of a termination message, which names the error.
func trimState(s corev1.ContainerState) corev1.ContainerState {
	if w := s.Waiting; w != nil {
		s.Waiting = &corev1.ContainerStateWaiting{Reason: short(w.Reason), Message: short(w.Message)}
	}
	if t := s.Terminated; t != nil {
		s.Terminated = &corev1.ContainerStateTerminated{
			ExitCode: t.ExitCode, Signal: t.Signal, Reason: short(t.Reason),
			Message:   short(podlogs.LastLine(t.Message)),
			StartedAt: t.StartedAt, FinishedAt: t.FinishedAt,
		}
	}
	return s
}

// short bounds a text of a Pod's status and reduces it to one clean line.
func short(s string) string {
	if len(s) > maxPodText {
		s = s[:maxPodText] + " …"
	}
	return podlogs.CleanLine(s)
}

// podNamed refuses an invalid Pod name, because it becomes part of a request's path.
func podNamed(name string) error {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Errorf("pod %q: no Pod has such a name", name)
	}
	return nil
}
