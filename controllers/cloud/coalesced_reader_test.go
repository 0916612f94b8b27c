package cloud

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// slowReader counts the reads; each takes a second and records when it was sent.
type slowReader struct {
	client.Reader
	mu   sync.Mutex
	sent []time.Time
	err  error
}

func (s *slowReader) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	at := time.Now()
	s.mu.Lock()
	s.sent = append(s.sent, at)
	err := s.err
	s.mu.Unlock()
	time.Sleep(time.Second)
	obj.SetCreationTimestamp(metav1.Time{Time: at})
	return err
}

var errNone = errors.New("none")

// answers makes every read fail with err from now on, errNone for no error; nil changes nothing. It returns the current
// error.
func (s *slowReader) answers(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err = cmp.Or(err, s.err); errors.Is(s.err, errNone) {
		s.err = nil
	}
	return s.err
}

func (s *slowReader) reads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sent)
}

func TestReadsAreSharedByThoseWhoAskedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowReader{}
		j := NewJoined(slow)
		asks := func(name string) {
			asked, p := time.Now(), &v1alpha1.AWSProvider{}
			err := j.Get(t.Context(), client.ObjectKey{Name: name}, p)
			if wanted := slow.answers(nil); !errors.Is(err, wanted) {
				t.Error(err)
			}
			if err == nil && p.CreationTimestamp.Time.Before(asked) {
				t.Errorf("what was asked at %s is answered with a read of %s", asked, p.CreationTimestamp)
			}
		}
		for range 20 { // the first read is for one of them, the second for all others
			go asks("a")
		}
		go asks("b")
		time.Sleep(500 * time.Millisecond)
		for range 20 {
			go asks("a")
		}
		time.Sleep(10 * time.Second)
		if n := slow.reads(); n != 3 {
			t.Errorf("%d reads for 41 questions about two objects", n)
		}
		slow.answers(errors.New("no answer"))
		asks("a")
		slow.answers(errNone)
		asks("a")
		synctest.Wait()
		j.mu.Lock()
		if n := slow.reads(); n != 5 || len(j.sent) != 0 || len(j.next) != 0 {
			t.Errorf("%d reads; %v and %v are remembered", n, j.sent, j.next)
		}
		j.mu.Unlock()
		ctx, cancel := context.WithCancel(t.Context())
		go asks("c")
		synctest.Wait()
		cancel()
		if err := j.Get(ctx, client.ObjectKey{Name: "c"}, &v1alpha1.AWSProvider{}); !errors.Is(err, context.Canceled) {
			t.Errorf("who does not wait any more: %v", err)
		}
		time.Sleep(5 * time.Second)
	})
}
