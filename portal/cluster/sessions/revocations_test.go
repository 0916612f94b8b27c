package sessions

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

func TestRevocationsAreLoadedOnceTheyAreKnown(t *testing.T) {
	client := fake.NewClientset(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "portico-system", Name: RevocationSecret(0)},
		Data:       map[string][]byte{"gone": []byte("99999999999")}, // as older versions wrote it
	})
	// The fake sends no bookmarks, and without them a watch-list never ends.
	client.PrependWatchReactor("secrets", func(a clienttesting.Action) (bool, watch.Interface, error) {
		if a.(clienttesting.WatchActionImpl).ListOptions.SendInitialEvents != nil {
			return true, nil, errors.New("list first")
		}
		return false, nil, nil
	})
	r, err := NewRevocations(client.CoreV1().Secrets("portico-system"), clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock() // learn is blocked
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	for _, w := range r.watched {
		kubetest.Eventually(t, "the informer", w.informer.HasSynced)
	}
	if r.Loaded() {
		t.Error("loaded before the list was learnt")
	}
	r.mu.Unlock()
	kubetest.Eventually(t, "the list", r.Loaded)
	if !r.Revoked(auth.SessionRef{ID: "gone", User: "17"}) || r.Revoked(auth.SessionRef{ID: "other", User: "17"}) {
		t.Error("the list is not known")
	}
	cancel()
	<-done
}

// TestASignOutIsWrittenAtASecondTry: the provider sends it once.
func TestASignOutIsWrittenAtASecondTry(t *testing.T) {
	for _, c := range []struct {
		fails, tries int
		cause        error
		ok           bool
	}{
		{2, 3, apierrors.NewInternalError(errors.New("x")), true},
		{9, 3, apierrors.NewTimeoutError("x", 1), false},
		{9, 1, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "x", errors.New("x")), false},
	} {
		client := fake.NewClientset(
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "portico-system", Name: RevocationSecret(0)}})
		tries := 0
		client.PrependReactor("patch", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
			tries++
			return tries <= c.fails, nil, c.cause
		})
		r, err := NewRevocations(client.CoreV1().Secrets("portico-system"), clock.RealClock{})
		if err != nil {
			t.Fatal(err)
		}
		s := auth.SessionRef{ID: "x", User: "10", Began: time.Now()}
		if err := r.Revoke(t.Context(), s); (err == nil) != c.ok || tries != c.tries || !r.Revoked(s) {
			t.Errorf("%v: %d tries, %v", c.cause, tries, err)
		}
	}
}
