package webapp_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/controllers/webapp"
)

// evictions answers reads of events with those of the kubelet about evicted Pods.
type evictions struct {
	client.Reader
	reads   int
	evicted map[types.UID]bool
}

func (r *evictions) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	r.reads++
	asked := (&client.ListOptions{}).ApplyOptions(opts)
	of, _ := asked.FieldSelector.RequiresExactMatch("involvedObject.uid")
	if reason, _ := asked.FieldSelector.RequiresExactMatch("reason"); reason == "Evicted" && r.evicted[types.UID(of)] {
		into.(*corev1.EventList).Items = []corev1.Event{{
			Reason: reason, Message: full, InvolvedObject: corev1.ObjectReference{UID: types.UID(of)},
		}}
	}
	return nil
}

// TestAnEvictedPodWhoseProgramEndsWellIsEvicted: its phase is Succeeded, and its status says nothing else.
func TestAnEvictedPodWhoseProgramEndsWellIsEvicted(t *testing.T) {
	l, set := rolledOut(t, 1)
	now := time.Unix(1_000_000, 0)
	events := &evictions{evicted: map[types.UID]bool{}}
	rec := work(l.Cluster).(webapp.Reconciler)
	rec.Now, rec.Kills = func() time.Time { return now }, webapp.NewKills(events)
	ended := func(name string, evicted bool) {
		t.Helper()
		pod := &corev1.Pod{ObjectMeta: at(name), Status: corev1.PodStatus{
			Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{
				Name: "app", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					Reason: "Completed", FinishedAt: metav1.Time{Time: now.Add(-time.Minute)},
				}},
			}},
		}}
		pod.UID, pod.CreationTimestamp = types.UID(name), metav1.Time{Time: now.Add(-time.Minute)}
		pod.Labels, pod.OwnerReferences = map[string]string{"portico.dev/webapp": "shop"}, owner(set.UID)
		if err := l.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		events.evicted[pod.UID] = evicted
	}
	ended("shop-1-a", false)
	ended("shop-1-b", false)
	if err := l.with(rec); err != nil {
		t.Errorf("two Pods ended for a reason that nobody says: %v", err)
	}
	ended("shop-1-c", true)
	l.controller("1", out(1, 0))
	l.is(l.with(rec), "Evicted", `0 of 1 replica available; Pod shop-1-c was evicted: Usage of EmptyDir volume "tmp" `+
		`exceeds the limit "1Gi"`)
	now = now.Add(time.Second)
	ended("shop-1-d", true)
	l.controller("1", out(1, 1))
	const again = `its Pods are evicted again and again: Usage of EmptyDir volume "tmp" exceeds the limit "1Gi"`
	for range 3 {
		l.is(l.with(rec), "Evicted", again)
	}
	if events.reads != 4 {
		t.Errorf("%d reads of events, want one for each Pod", events.reads)
	}
}
