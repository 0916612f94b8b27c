//go:build !linux

package stack

import (
	"context"

	"github.com/portico-platform/portico/test/stack/sandbox"
)

func (s *Stack) startNetwork(context.Context) error {
	if s.opts.RealNodes > 0 {
		return sandbox.Missing()
	}
	return nil
}

func (s *Stack) startRealNodes(context.Context) error { return nil }

func (*Stack) startPodIdentity(context.Context) error { return nil }
