package stack

import "context"

const portalCallback = "/auth/callback"

func (s *Stack) startOperator(_ context.Context) error { return nil }

func (s *Stack) startPortal(_ context.Context) error { return nil }
