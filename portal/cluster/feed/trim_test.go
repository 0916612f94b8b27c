package feed

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

// TestAnEventIsKeptAsFarAsItIsShown: users who can create Events can write a megabyte into one.
func TestAnEventIsKeptAsFarAsItIsShown(t *testing.T) {
	long := strings.Repeat("é", 500_000)
	e := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name: "e", Annotations: map[string]string{"portico.dev/actor": "kept", "short": "theirs", "long": long},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: long}},
		},
		Message: "x" + long, Reason: long, Action: long, Type: long, ReportingController: long, ReportingInstance: long,
		InvolvedObject: corev1.ObjectReference{FieldPath: long, Name: long, APIVersion: long}, Related: &corev1.ObjectReference{Name: long}, Source: corev1.EventSource{Host: long},
	}
	got, err := TrimEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	kept := got.(*corev1.Event)
	if size := kept.Size(); size > 12*maxEventText {
		t.Errorf("%d bytes are kept", size)
	}
	if kept.Annotations["portico.dev/actor"] != "kept" || len(kept.Annotations) != 1 {
		t.Fatalf("%v, %.20q", kept.Annotations, kept.Message)
	}
	if !strings.HasPrefix(kept.Message, "xé") || strings.ContainsRune(kept.Message, '�') {
		t.Errorf("%v, %.20q", kept.Annotations, kept.Message)
	}
	if out, err := TrimEvent(toolscache.DeletedFinalStateUnknown{Key: "a"}); err != nil || out == nil {
		t.Errorf("a tombstone: %v", err)
	}
}

// secretive returns a Pod with values in all fields that must not be cached.
func secretive() *corev1.Pod {
	const s = "s3cret"
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 1, Reason: "Error", Message: s + "\npanic: \x1b[31mno database\n\n", ContainerID: s,
	}}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "shop-1", Namespace: "payments", ResourceVersion: "7", Annotations: map[string]string{"a": s},
			Finalizers:    []string{s},
			Labels:        map[string]string{managedBy: portico, "portico.dev/webapp": "shop", "other": s},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: s}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-1", Hostname: s, Volumes: []corev1.Volume{{Name: s}},
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: s}},
			Containers: []corev1.Container{{
				Name: "app", Image: "shop:1", Args: []string{s}, Command: []string{s}, Env: []corev1.EnvVar{
					{Name: "PASSWORD", Value: s},
				},
			}},
			InitContainers: []corev1.Container{
				{Name: "init", Image: "init:1", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: s}}},
			},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: s, HostIP: s, Message: strings.Repeat("m", 5000),
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, Message: "a\nb"}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "app", ContainerID: s, ImageID: s, RestartCount: 3, LastTerminationState: ended,
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}},
			}},
		},
	}
}

func TestOfAPodOnlyWhatIsShownIsKept(t *testing.T) {
	in := secretive()
	got, err := trimPod(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil || strings.Contains(string(text), "s3cret") {
		t.Errorf("%s, %v", text, err)
	}
	p := got.(*corev1.Pod)
	status := p.Status.ContainerStatuses[0]
	if p.Labels["portico.dev/webapp"] != "shop" || p.Spec.NodeName != "node-1" {
		t.Errorf("lost what is shown: %s", text)
	}
	if p.Spec.InitContainers[0].Image != "init:1" || status.RestartCount != 3 {
		t.Errorf("lost what is shown: %s", text)
	}
	if status.State.Waiting.Reason != "CrashLoopBackOff" || p.ResourceVersion != "7" {
		t.Errorf("lost what is shown: %s", text)
	}
	if last := status.LastTerminationState.Terminated; last.Message != "panic: no database" || last.ExitCode != 1 {
		t.Errorf("the last termination is %+v", last)
	}
	if len(p.Status.Message) > maxPodText+10 || p.Status.Conditions[0].Message != "a b" {
		t.Errorf("texts are %d bytes and %q", len(p.Status.Message), p.Status.Conditions[0].Message)
	}
	if in.Spec.Containers[0].Env[0].Value != "s3cret" {
		t.Error("the Pod that came in was changed")
	}
	if out, err := trimPod(toolscache.DeletedFinalStateUnknown{Key: "a"}); err != nil || out == nil {
		t.Errorf("a tombstone: %v", err)
	}
}

func TestFeedTellsOfPods(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	f := NewChanges()
	s, h := f.Subscribe(t.Context()), f.pods(catalog.NewLive(kinds))
	pod := func(version, app string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "n", Name: "x-1", ResourceVersion: version, Labels: map[string]string{"portico.dev/webapp": app},
		}}
	}
	want := func(reason string, change ...Change) {
		t.Helper()
		if got, _ := s.Take(); !slices.Equal(got, change) {
			t.Errorf("%s: %v, want %v", reason, got, change)
		}
	}
	about := Change{Kind: "webapps", Namespace: "n", Name: "x", Pods: true}
	h.OnAdd(pod("1", "x"), false)
	want("added", about)
	h.OnUpdate(pod("1", "x"), pod("1", "x"))
	want("a resync")
	h.OnUpdate(pod("1", "x"), pod("2", "x"))
	want("updated", about)
	h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "n/x-1", Obj: pod("2", "x")})
	want("deleted unseen", about)
	h.OnAdd(pod("1", ""), false)
	want("a Pod of no application")
	h.OnAdd(toolscache.DeletedFinalStateUnknown{Key: "n/x"}, false)
	want("a tombstone without its object")
}
