package ec2

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// checkType refuses, before the instance is stopped, a change that would have no effect or would prevent the instance
// from starting again.
func (i *instance) checkType(ctx context.Context, seen *instanceState, changes []external.Change) error {
	want, optimized := string(seen.vm.InstanceType), ""
	for _, c := range changes {
		if c.Path == typePath {
			want = c.To
		} else {
			optimized = c.To
		}
	}
	out, err := i.svc.DescribeInstanceTypes(
		ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: []ec2types.InstanceType{ec2types.InstanceType(want)}})
	if err != nil {
		return explain(err)
	}
	for n := range out.InstanceTypes {
		if err := checkCompatible(&out.InstanceTypes[n], seen, want, optimized); err != nil {
			return err
		}
	}
	if want == string(seen.vm.InstanceType) {
		return nil
	}
	return i.checkOffered(ctx, seen, want)
}

// checkCompatible compares a type with the image, and with the requested ebsOptimized.
func checkCompatible(t *ec2types.InstanceTypeInfo, seen *instanceState, want, optimized string) error {
	if p := t.ProcessorInfo; p != nil && !supportsArchitecture(p.SupportedArchitectures, seen.vm.Architecture) {
		return engine.Blocked(v1alpha1.ReasonTypeDoesNotFit, "the instance's image is for %s, and instanceType %s "+
			"has %s; nothing was stopped. Choose another instanceType", seen.vm.Architecture, want,
			joinArchitectures(p.SupportedArchitectures))
	}
	if v := t.SupportedVirtualizationTypes; len(v) > 0 && seen.vm.VirtualizationType != "" &&
		!slices.Contains(v, seen.vm.VirtualizationType) {
		return engine.Blocked(v1alpha1.ReasonTypeDoesNotFit, "the instance's image is virtualized as %s, which "+
			"instanceType %s does not support; nothing was stopped. Choose another instanceType",
			seen.vm.VirtualizationType, want)
	}
	if n := t.NetworkInfo; n != nil && n.EnaSupport == ec2types.EnaSupportRequired && seen.vm.EnaSupport != nil &&
		!*seen.vm.EnaSupport {
		return engine.Blocked(v1alpha1.ReasonTypeDoesNotFit, "instanceType %s needs enhanced networking (ENA), which "+
			"the instance has not switched on; nothing was stopped. Choose another instanceType, or have ENA "+
			"switched on in AWS", want)
	}
	return checkEBSOptimized(t, want, optimized)
}

// checkEBSOptimized compares a type with the requested ebsOptimized.
func checkEBSOptimized(t *ec2types.InstanceTypeInfo, want, optimized string) error {
	if t.EbsInfo == nil || optimized == "" {
		return nil
	}
	switch support := t.EbsInfo.EbsOptimizedSupport; {
	case support == ec2types.EbsOptimizedSupportDefault && optimized == "false":
		return engine.Blocked(v1alpha1.ReasonNoChoice, "instanceType %s always reserves bandwidth to its volumes; "+
			"nothing was stopped. Remove ebsOptimized", want)
	case support == ec2types.EbsOptimizedSupportUnsupported && optimized == "true":
		return engine.Blocked(v1alpha1.ReasonNoChoice, "instanceType %s cannot reserve bandwidth to its volumes; "+
			"nothing was stopped. Remove ebsOptimized, or choose another instanceType", want)
	}
	return nil
}

// checkOffered refuses a type that EC2 does not offer in the instance's availability zone.
func (i *instance) checkOffered(ctx context.Context, seen *instanceState, want string) error {
	zone := ""
	if seen.vm.Placement != nil {
		zone = aws.ToString(seen.vm.Placement.AvailabilityZone)
	}
	out, err := i.svc.DescribeInstanceTypeOfferings(ctx, &ec2.DescribeInstanceTypeOfferingsInput{
		LocationType: ec2types.LocationTypeAvailabilityZone, Filters: []ec2types.Filter{
			filter("instance-type", want), filter("location", zone),
		},
	})
	if err != nil {
		return explain(err)
	}
	if len(out.InstanceTypeOfferings) == 0 {
		return engine.Blocked(v1alpha1.ReasonTypeNotOffered, "EC2 does not offer instanceType %s in %s, where the "+
			"instance is; nothing was stopped. Choose another instanceType", want, zone)
	}
	return nil
}

func supportsArchitecture(supported []ec2types.ArchitectureType, image ec2types.ArchitectureValues) bool {
	return len(supported) == 0 || image == "" || slices.Contains(supported, ec2types.ArchitectureType(image))
}

func joinArchitectures(list []ec2types.ArchitectureType) string {
	texts := make([]string, 0, len(list))
	for _, a := range list {
		texts = append(texts, string(a))
	}
	return strings.Join(texts, " and ")
}
