package rights

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

// slow is an API server that takes a second for each access review, even for concurrent ones.
type slow struct {
	authorizationclient.SubjectAccessReviewInterface
	asked atomic.Int32
}

func (s *slow) Create(_ context.Context, r *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (
	*authorizationv1.SubjectAccessReview, error,
) {
	s.asked.Add(1)
	time.Sleep(time.Second)
	r.Status.Allowed = r.Spec.ResourceAttributes.Resource != "pods"
	return r, nil
}

func TestAskingAheadMakesOneWaitOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &slow{}
		c := &Rights{access: newAccess(server, clock.RealClock{})}
		began := time.Now()
		rights := []Right{listing, ListEvents.In("payments"), ListPods.In("payments"), GetLogs.In("payments")}
		c.Ahead(t.Context(), kubetest.Dev, rights...)
		if n := time.Since(began); n != 0 {
			t.Errorf("asking ahead took %s", n)
		}
		for _, r := range rights {
			if ok, err := c.Allowed(t.Context(), kubetest.Dev, r); err != nil || ok != (r.Resource != "pods") {
				t.Errorf("%s: %v, %v", r.Name(), ok, err)
			}
		}
		if n := time.Since(began); n != time.Second || server.asked.Load() != 4 {
			t.Errorf("%d questions took %s, want 4 in a second", server.asked.Load(), n)
		}
		c.Ahead(t.Context(), kubetest.Dev, rights...)
		synctest.Wait()
		if n := server.asked.Load(); n != 4 {
			t.Errorf("what is known was asked for again: %d questions", n)
		}
	})
}

// A single right is checked where it is needed: starting it earlier gains nothing.
func TestOneRightIsNotAskedForAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &slow{}
		(&Rights{access: newAccess(server, clock.RealClock{})}).Ahead(t.Context(), kubetest.Dev, listing)
		synctest.Wait()
		if n := server.asked.Load(); n != 0 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestAskingAheadEndsWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &slow{}
		ctx, cancel := context.WithCancel(t.Context())
		var rights []Right
		for n := range reviewsAtOnce * 3 {
			rights = append(rights, ListPods.In("team-"+strconv.Itoa(n)))
		}
		(&Rights{access: newAccess(server, clock.RealClock{})}).Ahead(ctx, kubetest.Dev, rights...)
		synctest.Wait()
		cancel()
		time.Sleep(time.Minute)
		if n := server.asked.Load(); n != reviewsAtOnce {
			t.Errorf("asked %d times after the caller had gone, want the %d under way", n, reviewsAtOnce)
		}
	})
}
