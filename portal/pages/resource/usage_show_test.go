package resource

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	quantities "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/portal/pages/page"
)

func TestUsageInWords(t *testing.T) {
	for of, want := range map[string]string{
		"35400000n": "36m", "0": "0m", "999m": "999m", "1": "1 core",
		"1500m": "1.5 cores", "10": "10 cores",
	} {
		if got := cores(quantities.MustParse(of)); got != want {
			t.Errorf("%s of CPU is %q, want %q", of, got, want)
		}
	}
	for of, want := range map[string]string{
		"98304Ki": "96 MiB", "1023Mi": "1023 MiB", "1Gi": "1 GiB",
		"1536Mi": "1.5 GiB", "0": "0 MiB",
	} {
		if got := size(quantities.MustParse(of)); got != want {
			t.Errorf("%s of memory is %q, want %q", of, got, want)
		}
	}
}

func TestWhatUsageIsComparedWith(t *testing.T) {
	pod := func(requests, limits string) *corev1.Pod {
		c := corev1.Container{}
		if requests != "" {
			c.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: quantities.MustParse(requests)}
		}
		if limits != "" {
			c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: quantities.MustParse(limits)}
		}
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
	}
	for name, c := range map[string]struct {
		pods    []*corev1.Pod
		of      string
		percent int
		full    bool
	}{
		"a limit":                  {[]*corev1.Pod{pod("64Mi", "128Mi")}, "of 128 MiB limit", 75, false},
		"a limit that is near":     {[]*corev1.Pod{pod("64Mi", "100Mi")}, "of 100 MiB limit", 96, true},
		"no limit":                 {[]*corev1.Pod{pod("64Mi", "")}, "of 64 MiB reserved", 100, false},
		"a limit of one of two":    {[]*corev1.Pod{pod("64Mi", "128Mi"), pod("64Mi", "")}, "of 128 MiB reserved", 100, false},
		"nothing":                  {[]*corev1.Pod{pod("", "")}, "", 0, false},
		"the limits of two copies": {[]*corev1.Pod{pod("", "512Mi"), pod("", "512Mi")}, "of 1 GiB limit", 18, false},
	} {
		var l load
		for _, p := range c.pods {
			l.add(quantities.MustParse("96Mi"), p, corev1.ResourceMemory)
		}
		if g := gauge("Memory", l, size); g.Of != c.of || g.Percent != c.percent || g.Full != c.full {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// TestTheLogOfACrash: the link is to the log of the run that crashed, which is the previous one if the container runs
// again.
func TestTheLogOfACrash(t *testing.T) {
	at := func(minute int) metav1.Time {
		return metav1.NewTime(time.Date(2026, 11, 21, 12, minute, 0, 0, time.UTC))
	}
	ended := func(code int32, minute int) corev1.ContainerState {
		return corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", FinishedAt: at(minute)},
		}
	}
	pod := func(name string, state, last corev1.ContainerState) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{
			ContainerStatuses: []corev1.ContainerStatus{{Name: "app", State: state, LastTerminationState: last}},
		}}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	none := corev1.ContainerState{}
	for want, pods := range map[string][]*corev1.Pod{
		"":                     {pod("a", running, none), pod("b", running, ended(0, 1))},
		"?pod=a&previous=true": {pod("a", running, ended(1, 2)), pod("b", running, ended(1, 1))},
		"?pod=b":               {pod("a", running, ended(1, 2)), pod("b", waiting, ended(1, 3))},
		"?pod=c":               {pod("c", ended(137, 4), ended(1, 3)), pod("a", running, ended(1, 2))},
	} {
		l := objectRequest{}
		l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name = "payments", "webapps", "shop"
		c := (&Pages{Base: &page.Base{Now: time.Now}}).lastCrash(l, pods)
		if got := ""; c != nil || want != "" {
			if c != nil {
				got = c.Log
			}
			if got != "/teams/payments/webapps/shop/logs"+want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}
