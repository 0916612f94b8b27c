package ec2

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

const (
	tokensPath   = "metadataOptions.httpTokens"
	hopsPath     = "metadataOptions.httpPutResponseHopLimit"
	endpointPath = "metadataOptions.httpEndpoint"
)

// metadata holds the options of the metadata service. By default it requires tokens, as a launch without a setting
// does. The default of the hop limit depends on the image.
var metadata = call{
	settings: []setting{
		{
			Path: tokensPath, Default: string(ec2types.HttpTokensStateRequired), Safe: true,
			Want: option(func(m *v1alpha1.EC2MetadataOptions) string { return m.HTTPTokens }),
			Have: func(seen *instanceState) string { return string(metadataOf(seen).HttpTokens) },
		},
		{
			Path: hopsPath, Sticky: true,
			Want: option(func(m *v1alpha1.EC2MetadataOptions) string {
				return external.FormatInt(m.HTTPPutResponseHopLimit)
			}),
			Have: func(seen *instanceState) string {
				return external.FormatInt(metadataOf(seen).HttpPutResponseHopLimit)
			},
		},
		{
			Path: endpointPath, Default: string(ec2types.InstanceMetadataEndpointStateEnabled),
			Want: option(func(m *v1alpha1.EC2MetadataOptions) string { return m.HTTPEndpoint }),
			Have: func(seen *instanceState) string { return string(metadataOf(seen).HttpEndpoint) },
		},
	},
	possible: func(obj object, seen *instanceState, changes []external.Change) []external.Change {
		isEndpoint := func(c external.Change) bool { return c.Path == endpointPath }
		switch {
		case endpointAfter(seen, changes) == ec2types.InstanceMetadataEndpointStateDisabled:
			return slices.DeleteFunc(changes, func(c external.Change) bool { return !isEndpoint(c) })
		case slices.ContainsFunc(changes, isEndpoint):
			return withTokens(obj, seen, changes)
		}
		return changes
	},
	name: always("ModifyInstanceMetadataOptions"),
	do: func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error {
		in := &ec2.ModifyInstanceMetadataOptionsInput{InstanceId: seen.vm.InstanceId, HttpEndpoint: endpointAfter(
			seen, changes)}
		for _, c := range changes {
			switch c.Path {
			case tokensPath:
				in.HttpTokens = ec2types.HttpTokensState(c.To)
			case hopsPath:
				in.HttpPutResponseHopLimit = external.ParseInt(c.To)
			}
		}
		_, err := i.svc.ModifyInstanceMetadataOptions(ctx, in)
		return err
	},
}

// withTokens requires session tokens in the call that switches the service on, unless the owner says otherwise: a
// launch with the service off could not set that.
func withTokens(obj object, seen *instanceState, changes []external.Change) []external.Change {
	have, required := metadataOf(seen), string(ec2types.HttpTokensStateRequired)
	silent := obj.Spec.MetadataOptions == nil || obj.Spec.MetadataOptions.HTTPTokens == ""
	asked := slices.ContainsFunc(changes, func(c external.Change) bool { return c.Path == tokensPath })
	if silent && !asked && string(have.HttpTokens) != required {
		changes = append(changes, external.Change{Path: tokensPath, From: string(have.HttpTokens), To: required})
	}
	for n := range changes {
		changes[n].Together = endpointPath
	}
	return changes
}

// endpointAfter returns the state of the service's endpoint after the changes. EC2 accepts the other settings only
// while it is enabled.
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
