package elbv2

import (
	"context"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Needs returns the permission of a Describe operation: Elastic Load Balancing does not limit those by
// resource.
func (s *Service) Needs(_ context.Context, x *wire.Exchange) ([]permit.Need, error) {
	if !strings.HasPrefix(x.Call.Operation, "Describe") {
		return nil, permit.UnknownOperation(x)
	}
	return permit.Plain("elasticloadbalancing:"+x.Call.Operation, "*"), nil
}
