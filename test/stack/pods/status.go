package pods

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// tell writes the Pod's status.
func (p *pod) tell(ctx context.Context) {
	if p.unapplied {
		return
	}
	patch, err := json.Marshal(map[string]any{"status": p.status()})
	if err != nil {
		return // the status was written
	}
	_, _ = p.options.Clients.CoreV1().Pods(p.spec.Namespace).Patch(ctx, p.spec.Name, types.StrategicMergePatchType,
		patch, metav1.PatchOptions{}, "status")
}

func (p *pod) status() corev1.PodStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := corev1.ContainerStatus{
		Name: p.container().Name, Image: p.container().Image, ImageID: p.container().Image, ContainerID: "process://" +
			p.spec.Name + "/" + strconv.Itoa(int(p.count)),
		Ready: p.ready, Started: &p.started, RestartCount: p.count,
	}
	phase := corev1.PodRunning
	if p.last != nil && !p.over {
		c.LastTerminationState.Terminated = p.last
	}
	switch {
	case p.over:
		c.State.Terminated, phase = p.last, corev1.PodSucceeded
		if p.last.ExitCode != 0 {
			phase = corev1.PodFailed
		}
	case p.waiting != nil:
		c.State.Waiting = p.waiting
	default:
		c.State.Running = &corev1.ContainerStateRunning{StartedAt: p.since}
	}
	s := corev1.PodStatus{
		Phase: phase, StartTime: &p.since, HostIP: "127.0.0.1",
		ContainerStatuses: []corev1.ContainerStatus{c},
	}
	if p.ip != "" {
		shown := strings.Replace(p.ip, loopback, shownAs, 1)
		s.PodIP, s.PodIPs = shown, []corev1.PodIP{{IP: shown}}
	}
	p.turn(corev1.PodScheduled, true)
	p.turn(corev1.PodInitialized, true)
	p.turn(corev1.ContainersReady, p.ready)
	p.turn(corev1.PodReady, p.ready)
	s.Conditions = slices.Clone(p.conditions)
	return s
}

// turn sets a condition. Its time is that of the last change of its status.
func (p *pod) turn(kind corev1.PodConditionType, yes bool) {
	c := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()}
	if yes {
		c.Status = corev1.ConditionTrue
	}
	at := slices.IndexFunc(p.conditions, func(o corev1.PodCondition) bool { return o.Type == kind })
	switch {
	case at < 0:
		p.conditions = append(p.conditions, c)
	case p.conditions[at].Status != c.Status:
		p.conditions[at] = c
	}
}
