package pods

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

// noted records published changes.
type noted struct {
	mu  sync.Mutex
	all []feed.Change
}

func (p *noted) publish(c feed.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, c)
}

func (p *noted) take() []feed.Change {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.all = nil }()
	return p.all
}

func eventAt(name string, second int64) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: name}, Reason: name,
		LastTimestamp: metav1.Unix(second, 0),
	}
}

// asking returns a Cluster over events, and what records its requests and published changes.
func asking(t *testing.T) (c *Pods, events *fake.Clientset, news *noted, j *kubetest.Judge) {
	t.Helper()
	kinds := catalogtest.Kinds(t)
	j, a, _ := clustertest.NewRights()
	events, news = fake.NewClientset(eventAt("older", 100), eventAt("newer", 200)), &noted{}
	c = &Pods{rights: a, events: newPodEvents(events, catalog.NewLive(kinds), news.publish)}
	t.Cleanup(c.events.close)
	return c, events, news, j
}

// requests returns the requests for events; each watch begins with one or two.
func requests(events *fake.Clientset) (about []string) {
	for _, a := range events.Actions() {
		switch a := a.(type) {
		case clienttesting.ListAction:
			about = append(about, a.GetNamespace()+" "+a.GetListRestrictions().Fields.String())
		case clienttesting.WatchAction:
			about = append(about, a.GetNamespace()+" "+a.GetWatchRestrictions().Fields.String())
		}
	}
	return about
}

func podCalled(uid string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "payments", Name: "shop-1", UID: types.UID(uid), Labels: map[string]string{"portico.dev/webapp": "shop"},
	}}
}

func TestEventsOfAPodAreWatchedOnceForAllWhoLook(t *testing.T) {
	c, events, news, j := asking(t)
	pod := podCalled("u-1")
	for range 20 {
		got, err := c.Events(t.Context(), kubetest.Dev, pod)
		if err != nil || len(got) != 2 || got[0].Reason != "newer" {
			t.Fatalf("%v, %v", got, err)
		}
	}
	kubetest.Eventually(t, "the watch", func() bool { return len(requests(events)) >= 2 })
	about := requests(events)
	if len(about) > 2 || slices.ContainsFunc(about, func(s string) bool {
		return s != "payments involvedObject.uid=u-1"
	}) {
		t.Errorf("20 looks ask for %v", about)
	}
	if len(news.take()) > 0 {
		t.Error("what was there already is told as a change")
	}
	if _, err := events.CoreV1().Events("payments").Create(
		t.Context(), eventAt("newest", 300), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	want := feed.Change{Kind: "webapps", Namespace: "payments", Name: pod.Labels["portico.dev/webapp"], Pods: true}
	kubetest.Eventually(t, "the change", func() bool { return slices.Contains(news.take(), want) })
	if got, err := c.Events(t.Context(), kubetest.Dev, pod); err != nil || len(got) != 3 || got[0].Reason != "newest" {
		t.Errorf("%v, %v", got, err)
	}
	j.Refuse()
	other := kubetest.Dev
	other.Username = "oidc:other"
	if _, err := c.Events(t.Context(), other, pod); err == nil || !strings.Contains(err.Error(), "list events") {
		t.Errorf("somebody without the right: %v", err)
	}
}

func TestWatchesOfPodsEnd(t *testing.T) {
	c, _, _, _ := asking(t)
	for i := range maxPodsWatched + 10 {
		c.events.of(podCalled(fmt.Sprint("u-", i)))
	}
	held := func() int {
		c.events.mu.Lock()
		defer c.events.mu.Unlock()
		return len(c.events.all)
	}
	if n := held(); n != maxPodsWatched {
		t.Errorf("%d Pods are watched, want %d", n, maxPodsWatched)
	}
	c.events.mu.Lock()
	for i := range maxPodsWatched + 10 {
		if there := c.events.all[types.UID(fmt.Sprint("u-", i))] != nil; there != (i >= 10) {
			t.Errorf("Pod %d is watched: %v; those that were looked at last are to be", i, there)
		}
	}
	c.events.mu.Unlock()
	c.events.of(podCalled("u-last")).rest.Reset(0) // as after a long time without reads
	kubetest.Eventually(t, "the end of that watch", func() bool {
		c.events.mu.Lock()
		defer c.events.mu.Unlock()
		return c.events.all["u-last"] == nil
	})
	w := c.events.of(podCalled("u-1"))
	c.events.close()
	kubetest.Eventually(t, "the end of all", func() bool { return w.informer.IsStopped() && held() == 0 })
}
