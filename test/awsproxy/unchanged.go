package awsproxy

import (
	"context"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// unchanged returns the permissions of the calls to a service that the simulator serves well enough.
type unchanged func(x *wire.Exchange) ([]permit.Need, error)

func (unchanged) Around(ctx context.Context, _ *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	return next(ctx)
}

func (of unchanged) Needs(_ context.Context, x *wire.Exchange) ([]permit.Need, error) { return of(x) }

func taggingNeeds(x *wire.Exchange) ([]permit.Need, error) {
	if x.Call.Operation != "GetResources" {
		return nil, permit.UnknownOperation(x)
	}
	return permit.Plain("tag:GetResources", "*"), nil
}

// ssmNeeds returns the permissions for reading parameters. The ARNs of AWS's parameters have no account.
func ssmNeeds(x *wire.Exchange) ([]permit.Need, error) {
	name, _ := x.JSON["Name"].(string)
	switch x.Call.Operation {
	case "GetParameter":
	case "GetParametersByPath":
		name, _ = x.JSON["Path"].(string)
	default:
		return nil, permit.UnknownOperation(x)
	}
	action := "ssm:" + x.Call.Operation
	if arn := strings.HasPrefix(name, "arn:"); arn {
		return permit.Plain(action, name), nil
	}
	resource := strings.SplitN(x.ARN("ssm", "parameter/"+strings.TrimPrefix(name, "/")), ":", 6)
	if strings.HasPrefix(name, "/aws/") {
		resource[4] = ""
	}
	return permit.Plain(action, strings.Join(slices.Clip(resource), ":")), nil
}
