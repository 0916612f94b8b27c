//go:build integration

package integration

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
)

var errCut = errors.New("the operator was cut off here")

// cut stops the operator at one of its writes, to AWS or to Kubernetes, counted together.
type cut struct {
	at    int64 // the number of the write, from 1; 0 never cuts and only counts
	phase awsproxy.Phase
	seen  atomic.Int64
	dead  chan struct{} // closed at the cut: no call gets through after that
	once  sync.Once
}

func newCut(at int64, phase awsproxy.Phase) *cut {
	return &cut{at: at, phase: phase, dead: make(chan struct{})}
}

// around runs do, and cuts before or after it if it counts and is the chosen write.
func (c *cut) around(counts bool, do func() error) error {
	select {
	case <-c.dead:
		return errCut
	default:
	}
	if !counts {
		return do()
	}
	mine := c.seen.Add(1) == c.at
	if mine && c.phase == awsproxy.Before {
		c.once.Do(func() { close(c.dead) })
		return errCut
	}
	err := do()
	if mine {
		c.once.Do(func() { close(c.dead) })
		return errCut
	}
	return err
}

// aws implements the proxy's hook: it counts writes, cuts at the chosen one, and refuses every call once the operator
// is dead.
func (c *cut) aws(_ context.Context, call awsproxy.Call, phase awsproxy.Phase) error {
	select {
	case <-c.dead:
		return errCut
	default:
	}
	if !call.Write {
		return nil
	}
	if phase == awsproxy.Before {
		c.seen.Add(1)
	}
	if c.seen.Load() == c.at && phase == c.phase {
		c.once.Do(func() { close(c.dead) })
		return errCut
	}
	return nil
}

// about reports whether a write is counted. Writes of providers are not: they can come at any time.
func about(obj client.Object) bool {
	_, provider := obj.(*v1alpha1.AWSProvider)
	return !provider
}

// kube wraps the operator's client: its writes go through around.
func (c *cut) kube(cfg *rest.Config, o client.Options) (client.Client, error) {
	inner, err := client.NewWithWatch(cfg, o)
	if err != nil {
		return nil, err
	}
	return interceptor.NewClient(inner, interceptor.Funcs{
		Create: func(ctx context.Context, w client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			return c.around(about(obj), func() error { return w.Create(ctx, obj, opts...) })
		},
		Update: func(ctx context.Context, w client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			return c.around(about(obj), func() error { return w.Update(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, w client.WithWatch, obj client.Object, p client.Patch,
			opts ...client.PatchOption,
		) error {
			return c.around(about(obj), func() error { return w.Patch(ctx, obj, p, opts...) })
		},
		Apply: func(ctx context.Context, w client.WithWatch, obj runtime.ApplyConfiguration,
			opts ...client.ApplyOption,
		) error {
			return c.around(true, func() error { return w.Apply(ctx, obj, opts...) })
		},
		Delete: func(ctx context.Context, w client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			return c.around(true, func() error { return w.Delete(ctx, obj, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, cl client.Client, sub string, obj client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption,
		) error {
			return c.around(about(obj), func() error { return cl.SubResource(sub).Patch(ctx, obj, p, opts...) })
		},
	}), nil
}

// live runs an operator with the cut until it dies, or until done reports that the work is complete.
func (c *cut) live(t *testing.T, done func() bool) {
	t.Helper()
	c.liveAlone(t, nil, done)
}

// liveAlone runs, like live, an operator that sees no other object of this kind, so that it does not complete the
// work of others.
func (c *cut) liveAlone(t *testing.T, only client.Object, done func() bool) {
	t.Helper()
	world.Proxy.OnCall(c.aws)
	defer world.Proxy.OnCall(nil)
	stop := startOperator(t, operatorOptions{newClient: c.kube, only: only})
	defer stop()
	await(t, "the cut or the end", func() (bool, string) {
		select {
		case <-c.dead:
			return true, ""
		default:
			return done(), "at work"
		}
	})
}

// died reports whether the cut happened. Only after the last write can the work be complete before the cut is seen.
func (c *cut) died() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}
