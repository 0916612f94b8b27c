package cluster

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/portico-platform/portico/api/silence"
)

// TestAnAPIServerThatIsAwayIsTheCause checks that readiness names it, and not what is missing because of it.
func TestAnAPIServerThatIsAwayIsTheCause(t *testing.T) {
	c, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Options{
		Impersonator: types.NamespacedName{Namespace: "portico-system", Name: "portico-impersonator"},
		Namespace:    "portico-system", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, silent := errors.AsType[*silence.Error](c.Ready()); silent {
		t.Errorf("before it was asked: %v", c.Ready())
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	isSilent := func(context.Context) (bool, error) {
		_, silent := errors.AsType[*silence.Error](c.Ready())
		return silent, nil
	}
	err = wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 30*time.Second, true, isSilent)
	if err != nil {
		t.Errorf("Ready() = %v, want that the API server does not answer", c.Ready())
	}
	stop()
	<-ended
}
