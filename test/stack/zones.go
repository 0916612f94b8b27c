package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	route53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Domain is the domain of the sample hosted zones. The sample namespaces can have hostnames below their own names in
// it. Browsers resolve every name below .localhost to this machine.
const Domain = "portico.localhost"

// Zone is a hosted zone of Route 53.
type Zone struct {
	Domain  string
	Private bool
}

// makeZones creates the sample account's hosted zones: a public one, and a private one of the default VPC.
func (s *Stack) makeZones(ctx context.Context) (err error) {
	s.Zones = map[Zone]string{}
	for _, zone := range []Zone{{Domain: Domain}, {Domain: Domain, Private: true}} {
		if s.Zones[zone], err = s.MakeZone(ctx, zone); err != nil {
			return err
		}
	}
	return nil
}

// MakeZone creates a hosted zone in the sample account and returns its ID; a private one belongs to the default VPC.
func (s *Stack) MakeZone(ctx context.Context, zone Zone) (id string, err error) {
	var vpc *route53types.VPC
	if zone.Private {
		if vpc, err = s.defaultVPC(ctx); err != nil {
			return "", err
		}
	}
	out, err := route53.NewFromConfig(s.OutsideAWS()).CreateHostedZone(ctx, &route53.CreateHostedZoneInput{
		Name: aws.String(zone.Domain), VPC: vpc, HostedZoneConfig: &route53types.HostedZoneConfig{
			PrivateZone: zone.Private,
		},
		CallerReference: aws.String(rand.Text()),
	})
	if err != nil {
		return "", fmt.Errorf("create the hosted zone %s: %w", zone.Domain, err)
	}
	return path.Base(aws.ToString(out.HostedZone.Id)), nil
}

func (s *Stack) defaultVPC(ctx context.Context) (*route53types.VPC, error) {
	out, err := ec2.NewFromConfig(s.OutsideAWS()).DescribeVpcs(ctx, &ec2.DescribeVpcsInput{
		Filters: []ec2types.Filter{{Name: aws.String("is-default"), Values: []string{"true"}}},
	})
	if err != nil {
		return nil, fmt.Errorf("find the default VPC for a private hosted zone: %w", err)
	}
	if len(out.Vpcs) == 0 {
		return nil, errors.New("find the default VPC for a private hosted zone: the account has none")
	}
	return &route53types.VPC{VPCId: out.Vpcs[0].VpcId, VPCRegion: Region}, nil
}

// grantedNamespaces are the sample namespaces with a HostnameGrant.
var grantedNamespaces = []string{"payments", "search"}

// grants returns HostnameGrants that allow the sample namespaces hostnames in the sample zones.
func (s *Stack) grants() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, namespace := range grantedNamespaces {
		all = append(all, &unstructured.Unstructured{Object: object{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": "HostnameGrant",
			"metadata": object{"name": v1alpha1.HostnameGrantName, "namespace": namespace},
			"spec":     s.grant(namespace),
		}})
	}
	return all
}

// grant returns the spec that allows a sample namespace its hostnames.
func (s *Stack) grant(namespace string) object {
	return object{
		"suffixes": []any{namespace + "." + Domain}, "wildcards": true,
		"zones": []any{s.Zones[Zone{Domain: Domain}], s.Zones[Zone{Domain: Domain, Private: true}]},
	}
}
