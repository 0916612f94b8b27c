package resource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
)

// nodes returns logs of Pods, each with one line of the same time. Logs of a Pod in down never respond.
type nodes struct {
	cluster.Pods
	down    []string
	refused string
	open    atomic.Int32
	most    atomic.Int32
}

func (n *nodes) Logs(ctx context.Context, _ auth.Identity, q pods.LogQuery) (*podlogs.Lines, error) {
	if now := n.open.Add(1); now > n.most.Load() {
		n.most.Store(now)
	}
	defer n.open.Add(-1)
	switch {
	case slices.Contains(n.down, q.Pod):
		<-ctx.Done()
		return nil, fmt.Errorf("asking for %s: %w", q.Pod, ctx.Err())
	case q.Pod == n.refused:
		return nil, &failure.ForbiddenError{Verb: "get", Resource: "pods/log", Namespace: q.Namespace}
	}
	time.Sleep(time.Millisecond) // fake time: the others begin
	return podlogs.NewLines(io.NopCloser(strings.NewReader("2026-11-21T12:00:00Z hello\n")), nil), nil
}

// logsOf returns the pages over the nodes.
func logsOf(n *nodes) *Pages { return &Pages{Base: &page.Base{Cluster: &cluster.Cluster{Pods: n}}} }

// copiesOn returns a request for all copies, three on a node.
func copiesOn(names []string) logRequest {
	l := logRequest{all: true, copies: names, query: pods.LogQuery{Tail: defaultTail}}
	for i, name := range names {
		l.pods = append(l.pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", i/3)},
		})
	}
	return l
}

func TestANodeThatIsDownCostsItsCopiesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names, n := podNames(maxCopies), &nodes{down: podNames(3)}
		begin := time.Now()
		lines, _, note, err := logsOf(n).lastLines(t.Context(), copiesOn(names))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != readAllTime {
			t.Errorf("it took %s", took)
		}
		var want []string
		for _, name := range names[3:] {
			want = append(want, "["+shortName(name)+"] hello")
		}
		if !slices.Equal(lines, want) {
			t.Errorf("the lines are %q", lines)
		}
		if !strings.HasPrefix(note, "Without 00, 01, 02: ") {
			t.Errorf("the note is %q", note)
		}
		if most := n.most.Load(); most != readsOfAll {
			t.Errorf("%d were read at a time", most)
		}
	})
}

func TestWhenNoCopyAnswersThePageSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := podNames(maxCopies)
		if _, _, _, err := logsOf(&nodes{down: names}).lastLines(t.Context(), copiesOn(names)); !errors.Is(
			err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestARefusalEndsTheReadingOfAllCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names, begin := podNames(maxCopies), time.Now()
		n := &nodes{down: names[:1], refused: names[9]}
		_, _, _, err := logsOf(n).lastLines(t.Context(), copiesOn(names))
		if _, refused := errors.AsType[*failure.ForbiddenError](err); !refused {
			t.Errorf("the error is %v", err)
		}
		if took := time.Since(begin); took >= readAllTime {
			t.Errorf("it waited %s for the others", took)
		}
	})
}
