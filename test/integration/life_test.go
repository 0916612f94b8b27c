//go:build integration

package integration

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/test/awsproxy"
)

// life is one object of a specimen under test.
type life struct {
	specimen
	client.Client
	t *testing.T
	external.Object
}

// born creates an object; if declared, with everything that the specimen can declare.
func (s specimen) born(t *testing.T, c client.Client, ns, name string, declared bool) life {
	t.Helper()
	o := s.object(ns, name)
	if declared {
		s.declare(o)
	}
	create(t, c, o)
	return life{s, c, t, o}
}

// isReady reports whether the object is in sync with its latest generation.
func (l life) isReady() bool {
	err := l.Get(l.t.Context(), client.ObjectKeyFromObject(l.Object), l.Object)
	return err == nil && l.Common().Ready && l.Common().ObservedGeneration == l.GetGeneration()
}

func (l life) isGone() bool {
	return apierrors.IsNotFound(
		l.Get(l.t.Context(), client.ObjectKeyFromObject(l.Object), l.DeepCopyObject().(client.Object)))
}

// assertWhole checks that the object's resource is as after a run without faults.
func (l life) assertWhole(when string) {
	l.t.Helper()
	if got := l.owned(l.t, string(l.GetUID())); len(got) != 1 {
		l.t.Errorf("%s: %d resources carry the object's UID, want 1: %v", when, len(got), got)
	}
	if !l.holds(l.t, l.Object) {
		l.t.Errorf("%s: AWS does not have what the spec declares", when)
	}
	if _, status := l.AWS(); status.Binding == nil || status.ARN == "" {
		l.t.Errorf("%s: status %+v", when, status)
	}
}

// settled waits until the object is not written any more, and returns a mark of the AWS calls and the resourceVersion.
func (l life) settled() (awsproxy.Mark, string) {
	l.t.Helper()
	version := atRest(l.t, l.Client, l.Object)
	return world.Proxy.Mark(), version
}

// passes waits for the reads of n reconciles since m.
func (l life) passes(m awsproxy.Mark, n int) {
	l.t.Helper()
	await(l.t, fmt.Sprintf("%d passes", n), func() (bool, string) {
		got := l.calls(m, awsproxy.Reads, func(c awsproxy.Call) bool { return c.Operation == l.rest[0] })
		return len(got) >= n, fmt.Sprint(len(got))
	})
}

// reasonLike reads obj until its Ready condition has a reason that contains part.
func reasonLike(t *testing.T, c client.Client, obj external.Object, part string) metav1.Condition {
	t.Helper()
	var got metav1.Condition
	await(t, obj.GetName()+" to be "+part, func() (bool, string) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			return false, err.Error()
		}
		if found := meta.FindStatusCondition(obj.Common().Conditions, v1alpha1.ConditionReady); found != nil {
			got = *found
		}
		return strings.Contains(got.Reason, part), got.Reason + ": " + got.Message
	})
	return got
}

func wakeNow(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	edit(t, c, obj, func(o client.Object) {
		o.SetAnnotations(map[string]string{v1alpha1.AnnotationReconcileRequestedAt: fmt.Sprint(counter.Add(1))})
	})
}

// stale answers Gets of one object with an old copy of it.
type stale struct {
	mu  sync.Mutex
	old client.Object
	got atomic.Int64
}

func (s *stale) kube(cfg *rest.Config, o client.Options) (client.Client, error) {
	inner, err := client.NewWithWatch(cfg, o)
	if err != nil {
		return nil, err
	}
	return interceptor.NewClient(inner, interceptor.Funcs{
		Get: func(ctx context.Context, w client.WithWatch, key client.ObjectKey, obj client.Object,
			opts ...client.GetOption,
		) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.old != nil && reflect.TypeOf(obj) == reflect.TypeOf(s.old) && client.ObjectKeyFromObject(
				s.old) == key {
				reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(s.old.DeepCopyObject()).Elem())
				s.got.Add(1)
				return nil
			}
			return w.Get(ctx, key, obj, opts...)
		},
	}), nil
}

func (s *stale) serve(old client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old = old
}

// awaitUse calls cause, which triggers reconciles, and waits until some of them have read the old copy.
func (s *stale) awaitUse(t *testing.T, cause func()) {
	t.Helper()
	before := s.got.Load()
	cause()
	await(t, "stale passes", func() (bool, string) { return s.got.Load() > before+2, "waiting" })
}
