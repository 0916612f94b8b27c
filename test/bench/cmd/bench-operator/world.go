package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/stack"
)

// world is the control plane, AWS, and at most one operator.
type world struct {
	stack    *stack.Stack
	aws      *fakeaws.Server // nil if AWS is the stack's simulator
	kube     client.WithWatch
	raw      rest.Interface
	more     []string // flags of every operator
	progress io.Writer

	operator *operator
	lives    int // number of operators started
}

func begin(ctx context.Context, simulated bool, root string, more []string, progress io.Writer) (w *world, err error) {
	w = &world{more: more, progress: progress}
	o := stack.Options{Root: root, Parts: stack.ControlPlane | stack.AWS | stack.Gateways, Progress: progress}
	if !simulated {
		if w.aws, err = fakeaws.Start(); err != nil {
			return nil, err
		}
		o.Parts, o.AWSEndpoint = stack.ControlPlane|stack.Scheduler|stack.Nodes|stack.AWS, w.aws.URL
	}
	if w.stack, err = stack.Start(ctx, o); err != nil {
		return nil, errors.Join(err, w.end())
	}
	if err := w.connect(); err != nil {
		return nil, errors.Join(err, w.end())
	}
	return w, nil
}

func (w *world) connect() (err error) {
	if w.kube, err = client.NewWithWatch(w.stack.Admin, client.Options{Scheme: scheme()}); err != nil {
		return fmt.Errorf("connect to Kubernetes: %w", err)
	}
	clients, err := kubernetes.NewForConfig(w.stack.Admin)
	if err != nil {
		return fmt.Errorf("connect to Kubernetes: %w", err)
	}
	w.raw = clients.Discovery().RESTClient()
	return nil
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // the types are compiled in
		}
	}
	return s
}

func (w *world) end() error {
	err := w.stopOperator()
	if w.stack != nil {
		err = errors.Join(err, w.stack.Close())
	}
	if w.aws != nil {
		err = errors.Join(err, w.aws.Close())
	}
	return err
}

// makeNamespaces creates n namespaces whose objects can use the sample provider, or a single one if n is 0.
func (w *world) makeNamespaces(ctx context.Context, name string, n int) ([]string, error) {
	all := []string{name}
	if n > 0 {
		all = nil
	}
	for i := range n {
		all = append(all, fmt.Sprintf("%s-%d", name, i))
	}
	for _, one := range all {
		err := w.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: one, Labels: map[string]string{
				"portico.dev/aws": "allowed", "portico.dev/team": one,
				"portico.dev/confirm-deletion": "optional",
			},
		}})
		if err != nil {
			return nil, fmt.Errorf("make a namespace: %w", err)
		}
	}
	return all, nil
}

// counts returns the operator's calls to AWS so far.
func (w *world) counts() fakeaws.Counts {
	if w.aws != nil {
		return w.aws.Counts()
	}
	return countsOf(w.stack.Proxy.Calls(awsproxy.By(awsproxy.Operator)))
}

// poll is the interval for states that cannot be watched.
const poll = 100 * time.Millisecond

// quiet waits until value has not changed for a second, which means that everything has finished.
func quiet(ctx context.Context, value func(context.Context) (int, error)) error {
	last, since := -1, time.Now()
	for {
		now, err := value(ctx)
		if err != nil {
			return err
		}
		if now != last {
			last, since = now, time.Now()
		} else if time.Since(since) > time.Second {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it does not come to rest: %w", ctx.Err())
		case <-time.After(poll):
		}
	}
}

// calm waits until the operator neither calls AWS nor writes to Kubernetes.
func (w *world) calm(ctx context.Context) error {
	return quiet(ctx, func(ctx context.Context) (int, error) {
		writes, err := w.kubernetesWrites(ctx)
		return w.counts().Total() + writes.total(), err
	})
}
