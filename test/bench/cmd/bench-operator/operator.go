package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/portico-platform/portico/test/bench/measure"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

// operator is one run of bin/operator.
type operator struct {
	*process.Process
	metrics string // URL
}

// startOperator runs bin/operator with the permissions of its ServiceAccount and a deployment's flags: the defaults
// except for its listen addresses, plus the given flags. It returns once the operator leads and has nothing left to do.
func (w *world) startOperator(ctx context.Context, flags ...string) error {
	kubeconfig, err := w.stack.ServiceAccountKubeconfig(ctx, stack.Namespace, "portico-operator")
	if err != nil {
		return err
	}
	binary, err := binary(w.stack.Dir)
	if err != nil {
		return err
	}
	metrics, health, err := measure.FreeAddresses(ctx)
	if err != nil {
		return err
	}
	args := []string{
		"--kubeconfig", kubeconfig, "--namespace", stack.Namespace,
		"--metrics-bind-address", metrics, "--health-probe-bind-address", health,
		"--allowed-endpoints", w.stack.AWSEndpoint,
	}
	w.lives++
	o := &operator{metrics: "http://" + metrics + "/metrics"}
	o.Process, err = w.stack.Run(ctx, process.Spec{
		Name: fmt.Sprintf("operator-%d", w.lives), Path: binary, Args: append(append(args, w.more...), flags...),
		Ready: o.leads,
	})
	if err != nil {
		return err
	}
	w.operator = o
	return nil
}

func (w *world) stopOperator() error {
	if w.operator == nil {
		return nil
	}
	err := w.operator.Stop()
	w.operator = nil
	return err
}

// binary returns the path of bin/operator, next to the run directory; see stack.Options.Dir.
func binary(dir string) (string, error) {
	path := filepath.Join(dir, "..", "..", "bin", "operator")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the operator is not built; run make bench-operator: %w", err)
	}
	return path, nil
}

// leads returns nil once the operator is the leader.
func (o *operator) leads(ctx context.Context) error {
	all, err := o.samples(ctx)
	if err != nil {
		return err
	}
	if all.Sum("leader_election_master_status", nil) < 1 {
		return fmt.Errorf("it does not lead yet")
	}
	return nil
}

func (o *operator) samples(ctx context.Context) (measure.Samples, error) {
	return measure.Scrape(ctx, o.metrics)
}
