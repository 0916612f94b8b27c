package feed

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/podlogs"
)

const (
	// managedBy is the label that the operator sets on the workloads it creates, Pods included.
	managedBy, portico = "app.kubernetes.io/managed-by", "portico"
	// maxPodText bounds each text of a Pod's status in the cache.
	maxPodText = 512
)

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
			Name: all[i].Name, Image: all[i].Image, RestartPolicy: all[i].RestartPolicy,
			Resources: corev1.ResourceRequirements{
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
			Name: s.Name, Ready: s.Ready, Started: s.Started, RestartCount: s.RestartCount, Image: s.Image,
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

// maxEventText bounds each text of a cached Event, in bytes: the limit of a note in events.k8s.io. Users with a role
// that is not Portico's can create Events with longer texts.
const maxEventText = 1 << 10

// TrimEvent keeps of an Event only what is shown, and bounds its texts.
func TrimEvent(in any) (any, error) {
	e, ok := in.(*corev1.Event)
	if !ok {
		return in, nil // a tombstone
	}
	e.Related = nil
	of := &e.InvolvedObject
	for _, text := range []*string{
		&e.Message, &e.Reason, &e.Action, &e.Type, &e.ReportingController, &e.ReportingInstance, &e.Source.Component,
		&e.Source.Host,
		&of.Kind, &of.Name, &of.APIVersion, &of.ResourceVersion, &of.FieldPath, (*string)(&of.UID),
	} {
		*text = strings.Clone(strings.ToValidUTF8((*text)[:min(len(*text), maxEventText)], ""))
	}
	maps.DeleteFunc(e.Annotations, func(key, value string) bool {
		return len(value) > maxEventText || !strings.HasPrefix(key, "portico.dev/")
	})
	return Strip(in)
}
