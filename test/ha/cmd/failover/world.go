package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	measure "github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

const (
	team = "failover"
	// poll is the interval for states that cannot be watched.
	poll = 20 * time.Millisecond
	// patience is the timeout of waits that are not measured against a goal.
	patience = 2 * time.Minute
)

// world is the control plane, AWS and two operators.
type world struct {
	stack     *stack.Stack
	kube      client.Client
	operators []*operator
	began     awsproxy.Mark
	broken    error // the error that ended the measurement
	progress  io.Writer
}

// operator is one of two replicas.
type operator struct {
	*process.Process
	metrics string // URL
}

func begin(ctx context.Context, root string, progress io.Writer) (*world, error) {
	root, err := filepath.Abs(root) // processes run in other folders
	if err != nil {
		return nil, err
	}
	s, err := stack.Start(ctx, stack.Options{Root: root, Parts: stack.ControlPlane | stack.AWS, Progress: progress})
	if err != nil {
		return nil, err
	}
	w := &world{stack: s, progress: progress}
	if err := w.fill(ctx, filepath.Join(root, "bin", "operator")); err != nil {
		s.KeepLogs()
		return nil, errors.Join(err, s.Close())
	}
	return w, nil
}

func (w *world) fill(ctx context.Context, binary string) (err error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	if w.kube, err = client.New(w.stack.Admin, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	err = w.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: team, Labels: map[string]string{"portico.dev/aws": "allowed", "portico.dev/team": team},
	}})
	if err != nil {
		return err
	}
	w.began = w.stack.Proxy.Mark()
	for i := range 2 {
		o, err := w.startOperator(ctx, fmt.Sprintf("operator-%d", i), binary)
		if err != nil {
			return err
		}
		w.operators = append(w.operators, o)
	}
	return nil
}

// startOperator runs a replica with a deployment's flags: the defaults, except for its listen addresses.
func (w *world) startOperator(ctx context.Context, name, binary string) (*operator, error) {
	kubeconfig, err := w.stack.ServiceAccountKubeconfig(ctx, stack.Namespace, "portico-operator")
	if err != nil {
		return nil, err
	}
	metrics, health, err := measure.FreeAddresses(ctx)
	if err != nil {
		return nil, err
	}
	o := &operator{metrics: "http://" + metrics + "/metrics"}
	o.Process, err = w.stack.Run(ctx, process.Spec{
		Name: name, Path: binary,
		Args: []string{
			"--kubeconfig", kubeconfig, "--namespace", stack.Namespace,
			"--metrics-bind-address", metrics, "--health-probe-bind-address", health,
			"--inspect-bind-address", "127.0.0.1:0", "--inspect-advertise-address", "127.0.0.1",
			"--allowed-endpoints", w.stack.AWSEndpoint,
		},
		Ready: stack.Answers("http://" + health + "/readyz"),
	})
	return o, err
}

// leads reports whether the operator leads now. It returns false if the operator does not answer.
func (o *operator) leads(ctx context.Context) bool {
	all, err := measure.Scrape(ctx, o.metrics)
	return err == nil && all.Sum("leader_election_master_status", nil) > 0
}

// roles waits until exactly one operator leads.
func (w *world) roles(ctx context.Context) (leader, standby *operator, err error) {
	err = until(ctx, patience, "one of two operators to lead", func() (bool, error) {
		a, b := w.operators[0].leads(ctx), w.operators[1].leads(ctx)
		leader, standby = w.operators[0], w.operators[1]
		if b {
			leader, standby = standby, leader
		}
		return a != b, nil
	})
	return leader, standby, err
}

// until polls until done returns true.
func until(ctx context.Context, most time.Duration, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		ok, err := done()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("waiting for %s: %w", what, ctx.Err()), err)
		case <-time.After(poll):
		}
	}
}
