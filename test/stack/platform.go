package stack

import (
	"context"

	"github.com/portico-platform/portico/test/stack/process"
)

// startOperator runs bin/operator with the rights of its own ServiceAccount.
func (s *Stack) startOperator(ctx context.Context) error {
	if !s.opts.Parts.has(Operator) {
		return nil
	}
	kubeconfig, err := s.serviceAccountKubeconfig(ctx, Namespace, "portico-operator")
	if err != nil {
		return err
	}
	return s.run(ctx, process.Spec{
		Name: "operator", Path: s.opts.bin("operator"),
		Args: []string{
			"--kubeconfig", kubeconfig, "--namespace", Namespace, "--leader-elect=false", "--development",
			"--metrics-bind-address", address(s.ports.metrics), "--health-probe-bind-address", address(s.ports.health),
		},
		Ready: answers(plain, "http://"+address(s.ports.health)+"/readyz"),
	})
}

const portalCallback = "/auth/callback"

func (s *Stack) startPortal(_ context.Context) error { return nil }
