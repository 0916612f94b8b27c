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
	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/stack"
)

// world is the control plane, the AWS fake, and at most one operator.
type world struct {
	stack    *stack.Stack
	aws      *fakeaws.Server
	kube     client.WithWatch
	raw      rest.Interface
	more     []string // flags of every operator
	progress io.Writer

	operator *operator
	lives    int // of operators
}

func begin(ctx context.Context, root string, more []string, progress io.Writer) (*world, error) {
	aws, err := fakeaws.Start()
	if err != nil {
		return nil, err
	}
	s, err := stack.Start(ctx, stack.Options{
		Root: root, Parts: stack.ControlPlane | stack.Scheduler | stack.Nodes | stack.AWS, AWSEndpoint: aws.URL, Progress: progress,
	})
	if err != nil {
		return nil, errors.Join(err, aws.Close())
	}
	w := &world{stack: s, aws: aws, more: more, progress: progress}
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
	return errors.Join(w.stopOperator(), w.stack.Close(), w.aws.Close())
}

// namespace makes one whose objects may use the sample provider.
func (w *world) namespace(ctx context.Context, name string) error {
	return w.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"portico.dev/aws": "allowed", "portico.dev/team": name},
	}})
}

// poll is for states that nobody announces.
const poll = 100 * time.Millisecond

// quiet waits until value has not changed for a second: everything that was started has ended.
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

// calm waits until the operator calls neither AWS nor writes to Kubernetes any more.
func (w *world) calm(ctx context.Context) error {
	return quiet(ctx, func(ctx context.Context) (int, error) {
		writes, err := w.kubernetesWrites(ctx)
		return w.aws.Counts().Total() + writes.total(), err
	})
}
