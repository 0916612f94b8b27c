package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/auth"
)

func TestRevocationsAreLoadedOnceTheyAreKnown(t *testing.T) {
	client := fake.NewClientset(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "portico-system", Name: RevocationSecret(0)},
		Data:       map[string][]byte{"gone": []byte("99999999999")}, // as older versions wrote it
	})
	// The fake sends no bookmarks, without which a list that is watched has no end.
	client.PrependWatchReactor("secrets", func(a clienttesting.Action) (bool, watch.Interface, error) {
		if a.(clienttesting.WatchActionImpl).ListOptions.SendInitialEvents != nil {
			return true, nil, errors.New("list first")
		}
		return false, nil, nil
	})
	r, err := newRevocations(client.CoreV1().Secrets("portico-system"), clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock() // learning waits
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.run(ctx) }()
	for _, w := range r.watched {
		eventually(t, "the informer", w.informer.HasSynced)
	}
	if r.Loaded() {
		t.Error("loaded before the list was learnt")
	}
	r.mu.Unlock()
	eventually(t, "the list", r.Loaded)
	if !r.Revoked(auth.SessionRef{ID: "gone", User: "17"}) || r.Revoked(auth.SessionRef{ID: "other", User: "17"}) {
		t.Error("the list is not known")
	}
	cancel()
	<-done
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not come", what)
		}
	}
}
