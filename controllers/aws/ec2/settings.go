package ec2

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

type (
	object = *v1alpha1.EC2Instance
	field  = external.Field[object, instanceState]
)

// call changes some fields of a machine whether it runs or not.
type call struct {
	fields []field
	// read tells whether the fields were read; nil: they always are.
	read func(*instanceState) bool
	// possible leaves out what EC2 would refuse to change; nil: nothing.
	possible func(seen *instanceState, changes []external.Change) []external.Change
	name     func(changes []external.Change) string
	do       func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error
}

// calls in the order in which they are made: closing before opening.
var calls = []call{metadata, groups, profile, protection, monitoring}

func always(name string) func([]external.Change) string {
	return func([]external.Change) string { return name }
}

func (i *instance) planCalls(obj *v1alpha1.EC2Instance, seen *instanceState) []external.Step {
	var steps []external.Step
	for _, c := range calls {
		if c.read != nil && !c.read(seen) {
			continue
		}
		changes := external.Changes(c.fields, obj, seen, obj.Status.ManagedFields)
		if c.possible != nil {
			changes = c.possible(seen, changes)
		}
		if len(changes) == 0 {
			continue
		}
		steps = append(steps, external.Step{Name: c.name(changes), Why: external.Why(changes), Do: func(ctx context.Context) error {
			return explain(c.do(ctx, i, seen, changes))
		}})
	}
	return steps
}

// The security groups have no default to go back to: the VPC's own group may be anything.
var groups = call{
	fields: []field{{
		Path: "securityGroupIDs", Sticky: true,
		Want: func(o object) (string, bool) {
			return joined(o.Spec.SecurityGroupIDs), len(o.Spec.SecurityGroupIDs) > 0
		},
		Have: func(seen *instanceState) string {
			var ids []string
			for _, g := range seen.vm.SecurityGroups {
				ids = append(ids, aws.ToString(g.GroupId))
			}
			return joined(ids)
		},
	}},
	name: always("ModifyInstanceAttribute"),
	do: func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error {
		return i.modify(ctx, &ec2.ModifyInstanceAttributeInput{InstanceId: seen.vm.InstanceId, Groups: strings.Split(changes[0].To, separator)})
	},
}

func (i *instance) modify(ctx context.Context, in *ec2.ModifyInstanceAttributeInput) error {
	_, err := i.svc.ModifyInstanceAttribute(ctx, in)
	return err
}

var monitoring = call{
	fields: []field{{
		Path: "monitoring", Default: "false",
		Want: yesNo(func(s *v1alpha1.EC2InstanceSpec) *bool { return s.Monitoring }),
		Have: func(seen *instanceState) string {
			m := seen.vm.Monitoring
			return strconv.FormatBool(m != nil && (m.State == ec2types.MonitoringStateEnabled || m.State == ec2types.MonitoringStatePending))
		},
	}},
	name: func(changes []external.Change) string {
		if changes[0].To == "true" {
			return "MonitorInstances"
		}
		return "UnmonitorInstances"
	},
	do: func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error {
		ids := []string{seen.id()}
		if changes[0].To == "true" {
			_, err := i.svc.MonitorInstances(ctx, &ec2.MonitorInstancesInput{InstanceIds: ids})
			return err
		}
		_, err := i.svc.UnmonitorInstances(ctx, &ec2.UnmonitorInstancesInput{InstanceIds: ids})
		return err
	},
}

// protection costs a read of its own.
var protection = call{
	fields: []field{{
		Path: "disableApiTermination", Default: "false",
		Want: yesNo(func(s *v1alpha1.EC2InstanceSpec) *bool { return s.DisableAPITermination }),
		Have: func(seen *instanceState) string { return strconv.FormatBool(aws.ToBool(seen.protected)) },
	}},
	read: func(seen *instanceState) bool { return seen.protected != nil },
	name: always("ModifyInstanceAttribute"),
	do: func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error {
		return i.protect(ctx, seen, changes[0].To == "true")
	},
}

func (i *instance) protect(ctx context.Context, seen *instanceState, on bool) error {
	return i.modify(ctx, &ec2.ModifyInstanceAttributeInput{
		InstanceId: seen.vm.InstanceId, DisableApiTermination: &ec2types.AttributeBooleanValue{Value: &on},
	})
}

const (
	tokensPath   = "metadataOptions.httpTokens"
	hopsPath     = "metadataOptions.httpPutResponseHopLimit"
	endpointPath = "metadataOptions.httpEndpoint"
)

// metadata: tokens go back to what a launch without a word asks for. The default of the hop limit depends on the image.
var metadata = call{
	fields: []field{
		{
			Path: tokensPath, Default: string(ec2types.HttpTokensStateRequired),
			Want: option(func(m *v1alpha1.EC2MetadataOptions) string { return m.HTTPTokens }),
			Have: func(seen *instanceState) string { return string(metadataOf(seen).HttpTokens) },
		},
		{
			Path: hopsPath, Sticky: true,
			Want: option(func(m *v1alpha1.EC2MetadataOptions) string { return digits(m.HTTPPutResponseHopLimit) }),
			Have: func(seen *instanceState) string { return digits(metadataOf(seen).HttpPutResponseHopLimit) },
		},
		{
			Path: endpointPath, Default: string(ec2types.InstanceMetadataEndpointStateEnabled),
			Want: option(func(m *v1alpha1.EC2MetadataOptions) string { return m.HTTPEndpoint }),
			Have: func(seen *instanceState) string { return string(metadataOf(seen).HttpEndpoint) },
		},
	},
	possible: func(seen *instanceState, changes []external.Change) []external.Change {
		if endpointAfter(seen, changes) != ec2types.InstanceMetadataEndpointStateDisabled {
			return changes
		}
		return slices.DeleteFunc(changes, func(c external.Change) bool { return c.Path != endpointPath })
	},
	name: always("ModifyInstanceMetadataOptions"),
	do: func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error {
		in := &ec2.ModifyInstanceMetadataOptionsInput{InstanceId: seen.vm.InstanceId, HttpEndpoint: endpointAfter(seen, changes)}
		for _, c := range changes {
			switch c.Path {
			case tokensPath:
				in.HttpTokens = ec2types.HttpTokensState(c.To)
			case hopsPath:
				in.HttpPutResponseHopLimit = parsed(c.To)
			}
		}
		_, err := i.svc.ModifyInstanceMetadataOptions(ctx, in)
		return err
	},
}

// endpointAfter is what the service's endpoint is after the changes. EC2 takes the other settings only of one that is
// enabled.
func endpointAfter(seen *instanceState, changes []external.Change) ec2types.InstanceMetadataEndpointState {
	for _, c := range changes {
		if c.Path == endpointPath {
			return ec2types.InstanceMetadataEndpointState(c.To)
		}
	}
	return metadataOf(seen).HttpEndpoint
}

func metadataOf(seen *instanceState) *ec2types.InstanceMetadataOptionsResponse {
	if m := seen.vm.MetadataOptions; m != nil {
		return m
	}
	return &ec2types.InstanceMetadataOptionsResponse{}
}

func option(of func(*v1alpha1.EC2MetadataOptions) string) func(object) (string, bool) {
	return func(o object) (string, bool) {
		if o.Spec.MetadataOptions == nil {
			return "", false
		}
		value := of(o.Spec.MetadataOptions)
		return value, value != ""
	}
}

func yesNo(of func(*v1alpha1.EC2InstanceSpec) *bool) func(object) (string, bool) {
	return func(o object) (string, bool) {
		value := of(&o.Spec)
		return strconv.FormatBool(aws.ToBool(value)), value != nil
	}
}

func digits(n *int32) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(int(*n))
}

// parsed is the number in value; nil if it is none.
func parsed(value string) *int32 {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return nil
	}
	return aws.Int32(int32(n))
}
