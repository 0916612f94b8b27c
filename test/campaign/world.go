package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

// World is a running stack, with clients of its administrator.
type World struct {
	*stack.Stack
	Kube     client.WithWatch
	Clients  kubernetes.Interface
	Progress io.Writer

	root     string
	issuer   *oidctest.Provider // nil until it is needed
	keys     string             // path of the session keys of all portals
	cleanups []func()
}

// In starts a world with the given parts, calls do, and ends the world. The context of do also ends when a part ends by
// itself. If do fails, the logs are kept, and the error says where.
func (r Run) In(ctx context.Context, o stack.Options, do func(context.Context, *World) error) (failed error) {
	o.Root, o.Progress = r.Root, r.Progress
	s, err := stack.Start(ctx, o)
	if err != nil {
		return err
	}
	w := &World{Stack: s, Progress: r.Progress, root: r.Root}
	defer func() {
		if died := s.Err(); died != nil && !errors.Is(failed, died) {
			failed = errors.Join(failed, died)
		}
		if failed != nil {
			s.KeepLogs()
			failed = fmt.Errorf("%w\nlogs are in %s", failed, s.Dir)
		}
		failed = errors.Join(failed, w.end())
	}()
	if w.Kube, err = client.NewWithWatch(s.Admin, client.Options{Scheme: controllers.Scheme()}); err != nil {
		return err
	}
	if w.Clients, err = kubernetes.NewForConfig(s.Admin); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-s.Failed():
			cancel(s.Err())
		case <-ctx.Done():
		}
	}()
	return do(ctx, w)
}

// end ends everything that was started.
func (w *World) end() error {
	err := w.Close()
	for _, cleanup := range w.cleanups {
		cleanup()
	}
	return err
}

// Say writes a line of progress.
func (w *World) Say(format string, args ...any) { _, _ = fmt.Fprintf(w.Progress, format+"\n", args...) }

// APIServer reads the API server's metrics.
func (w *World) APIServer(ctx context.Context) (Samples, error) {
	text, err := w.Clients.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the API server's metrics: %w", err)
	}
	return Parse(bytes.NewReader(text))
}
