package stack

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestUsageIsAPartOfWhatIsRequested(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "shop-a", Namespace: "payments"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "app", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("1Gi"),
			}}}, {Name: "proxy"},
		}},
	}
	if got := usageOf(pod); got != nil {
		t.Errorf("before it runs it uses %v", got)
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: running}, {Name: "proxy"}}
	all := usageOf(pod)["containers"].([]object)
	if len(all) != 1 || all[0]["name"] != "app" {
		t.Fatalf("usage of %v", all)
	}
	usage := all[0]["usage"].(object)
	cpu, memory := resource.MustParse(usage["cpu"].(string)), resource.MustParse(usage["memory"].(string))
	if got := cpu.MilliValue(); got < 300 || got > 1080 {
		t.Errorf("%d m of 2 cores", got)
	}
	if got := memory.Value() >> 20; got < 300 || got > 710 {
		t.Errorf("%d MiB of 1 GiB", got)
	}
	if again := usageOf(pod)["containers"].([]object)[0]["usage"].(object); again["cpu"] != usage["cpu"] {
		t.Error("the figures change by themselves")
	}
}
