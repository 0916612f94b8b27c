package pods

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// tell writes the Pod's status.
func (p *pod) tell(ctx context.Context) {
	if p.unknown {
		return
	}
	patch, err := json.Marshal(map[string]any{"status": p.status()})
	if err != nil {
		return // the status was written
	}
	_, _ = p.options.Clients.CoreV1().Pods(p.spec.Namespace).Patch(ctx, p.spec.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
}

func (p *pod) status() corev1.PodStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := corev1.ContainerStatus{
		Name: p.container().Name, Image: p.container().Image, ImageID: p.container().Image, ContainerID: "process://" + p.spec.Name + "/" + strconv.Itoa(int(p.count)),
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
	s := corev1.PodStatus{Phase: phase, StartTime: &p.since, HostIP: "127.0.0.1", ContainerStatuses: []corev1.ContainerStatus{c}}
	if p.ip != "" {
		shown := strings.Replace(p.ip, loopback, shownAs, 1)
		s.PodIP, s.PodIPs = shown, []corev1.PodIP{{IP: shown}}
	}
	for kind, yes := range map[corev1.PodConditionType]bool{
		corev1.PodScheduled: true, corev1.PodInitialized: true, corev1.ContainersReady: p.ready, corev1.PodReady: p.ready,
	} {
		status := corev1.ConditionFalse
		if yes {
			status = corev1.ConditionTrue
		}
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Now()})
	}
	return s
}
