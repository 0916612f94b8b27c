package pods

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

// Get returns the Pod, a NotFound error without one, and fails if its name is broken.
func (o onePod) Get(_ context.Context, at client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch {
	case o.pod == nil:
		return apierrors.NewNotFound(corev1.Resource("pods"), at.Name)
	case o.pod.Name == "broken":
		return errors.New("the cache has not synced")
	}
	o.pod.DeepCopyInto(into.(*corev1.Pod))
	return nil
}

// podIn returns a Pod with a node, and changes it.
func podIn(change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "shop-1"}}
	p.Spec.NodeName, p.Status.Phase = "node-1", corev1.PodPending
	change(p)
	return p
}

func TestWhyAContainerHasNoLog(t *testing.T) {
	const starting = `container "app" in pod "shop-1" is waiting to start: PodInitializing`
	scheduled := func(status corev1.ConditionStatus, message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.NodeName = ""
			p.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "not this one"},
				{Type: corev1.PodScheduled, Status: status, Message: message},
			}
		}
	}
	evicted := func(node string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.NodeName, p.Status.Phase = node, corev1.PodFailed
			p.Status.Reason, p.Status.Message = "Evicted", "The node was low on resource: memory."
		}
	}
	as := func(*corev1.Pod) {}
	for name, c := range map[string]struct {
		pod    *corev1.Pod
		status int
		words  string
		want   string
		never  bool
		asked  int
	}{
		"nothing fits it":                 {podIn(scheduled("False", "0/3 nodes are available: 3 Insufficient cpu.")), 204, "", "Pod shop-1 has no node yet: 0/3 nodes are available: 3 Insufficient cpu.", false, 0},
		"the scheduler has not seen it":   {podIn(func(p *corev1.Pod) { p.Spec.NodeName = "" }), 204, "", "Pod shop-1 has no node yet", false, 0},
		"its node is being assigned":      {podIn(scheduled("True", "")), 204, "", "Pod shop-1 has no node yet", false, 0},
		"it was given up without a node":  {podIn(evicted("")), 204, "", "Pod shop-1 has ended and has no log: Evicted: The node was low on resource: memory.", true, 0},
		"its init container runs":         {podIn(as), 400, starting, starting, false, 1},
		"it was evicted before it ran":    {podIn(evicted("node-1")), 400, `container "app" in pod "shop-1" is not available`, "Pod shop-1 has ended and has no log: Evicted: The node was low on resource: memory.", true, 1},
		"its node has forgotten it":       {podIn(evicted("node-1")), 404, `pod "shop-1" does not exist`, "Pod shop-1 has ended and has no log: Evicted: The node was low on resource: memory.", true, 1},
		"the cache does not know the Pod": {nil, 400, starting, starting, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := reading(t, c.pod, c.status, c.words)
			_, err := p.Logs(t.Context(), kubetest.Dev, shopLog)
			none, ok := errors.AsType[*failure.NoLogError](err)
			if !ok || none.Error() != c.want || none.Never != c.never {
				t.Errorf("the error is %v, %+v, want %q, never %v", err, none, c.want, c.never)
			}
			if len(s.Seen) != c.asked {
				t.Errorf("the API server was asked %d times, want %d", len(s.Seen), c.asked)
			}
		})
	}
}

func TestAPodThatEndedAndRanOnceHasNoPreviousLog(t *testing.T) {
	const none = `previous terminated container "app" in pod "shop-1" not found`
	for phase, never := range map[corev1.PodPhase]bool{corev1.PodFailed: true, corev1.PodRunning: false} {
		p, _ := reading(t, podIn(func(p *corev1.Pod) { p.Status.Phase = phase }), 400, none)
		previous := shopLog
		previous.Previous = true
		_, err := p.Logs(t.Context(), kubetest.Dev, previous)
		got, ok := errors.AsType[*failure.NoLogError](err)
		if !ok || got.Why != none || got.Never != never {
			t.Errorf("%s: %v, %+v, want %q, never %v", phase, err, got, none, never)
		}
	}
}

func TestALogThatExistsIsRead(t *testing.T) {
	ended := podIn(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
	for name, pod := range map[string]*corev1.Pod{
		"of a Pod that runs": podIn(func(*corev1.Pod) {}), "of one that has ended": ended, "of one that is not cached": nil,
	} {
		p, _ := reading(t, pod, http.StatusOK, "hello\n")
		log, err := p.Logs(t.Context(), kubetest.Dev, shopLog)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if line, err := log.Next(); line != "hello" || err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("%s: %q, %v", name, line, err)
		}
		_ = log.Close()
	}
}

func TestAnErrorIsNoMissingLog(t *testing.T) {
	broken := podIn(func(p *corev1.Pod) { p.Name = "broken" })
	for name, c := range map[string]struct {
		pod    *corev1.Pod
		status int
		is     func(error) bool
	}{
		"the cache cannot be read": {broken, 200, kubetest.IsUnavailable},
		"the Pod is gone":          {podIn(func(*corev1.Pod) {}), 404, apierrors.IsNotFound},
		"the node is away":         {podIn(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), 500, kubetest.IsUnavailable},
	} {
		p, _ := reading(t, c.pod, c.status, "words")
		_, err := p.Logs(t.Context(), kubetest.Dev, shopLog)
		if none, ok := errors.AsType[*failure.NoLogError](err); ok || !c.is(err) {
			t.Errorf("%s: %v, %+v", name, err, none)
		}
	}
}

var shopLog = LogQuery{Namespace: "payments", Pod: "shop-1", Container: "app", Tail: 7}

// reading returns Pods over a cache of one Pod, or none, and an API server whose answer for a log is given.
func reading(t *testing.T, pod *corev1.Pod, status int, words string) (*Pods, *kubetest.APIServer) {
	t.Helper()
	_, a, _ := clustertest.NewRights()
	w, s := clustertest.NewImpersonator(t, a)
	reason := map[int]metav1.StatusReason{
		400: metav1.StatusReasonBadRequest, 404: metav1.StatusReasonNotFound, 500: metav1.StatusReasonInternalError,
	}[status]
	s.Answer = func(w http.ResponseWriter) {
		if reason == "" {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, words)
			return
		}
		kubetest.Reply(w, status, metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Code: int32(status), Reason: reason, Message: words,
		})
	}
	return &Pods{rights: a, impersonator: w, feed: &feed.Feed{Cache: onePod{pod: pod}}}, s
}
