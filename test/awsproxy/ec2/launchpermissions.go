package ec2

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// launchNeeds returns the permissions of RunInstances: on each resource that it creates, which has the tags of the
// request, and on each that it uses; to tag what it creates; to pass the role of the instance profile; and to use the
// keys of volumes.
func launchNeeds(ctx context.Context, up *wire.Upstream, x *wire.Exchange) ([]permit.Need, error) {
	all := madeNeeds(x)
	for _, id := range usedIDs(x.Form) {
		all = append(all, permit.Need{Action: "ec2:RunInstances", Resource: arnOf(x, id)})
	}
	if key := x.Form.Get("KeyName"); key != "" {
		all = append(all, permit.Need{Action: "ec2:RunInstances", Resource: x.ARN("ec2", "key-pair/"+key)})
	}
	pass, err := passNeeds(ctx, up, x)
	if err != nil {
		return nil, err
	}
	all = append(all, pass...)
	for n := 1; x.Form.Has(mapping(n) + "DeviceName"); n++ {
		if key := x.Form.Get(mapping(n) + "Ebs.KmsKeyId"); key != "" {
			all = append(all, permit.OnKey(x, "ec2", key, nil, "kms:DescribeKey", "kms:CreateGrant", "kms:Decrypt",
				"kms:GenerateDataKeyWithoutPlaintext",
				"kms:ReEncryptFrom", "kms:ReEncryptTo")...)
		}
	}
	return all, nil
}

// madeNeeds returns the permissions on the resources that a launch creates.
func madeNeeds(x *wire.Exchange) []permit.Need {
	given := map[string]map[string]string{}
	for n := 1; x.Form.Has(fmt.Sprintf("TagSpecification.%d.ResourceType", n)); n++ {
		given[x.Form.Get(fmt.Sprintf("TagSpecification.%d.ResourceType", n))] = wire.FormTags(
			x.Form, fmt.Sprintf("TagSpecification.%d.Tag.", n))
	}
	var all []permit.Need
	for _, kind := range []string{"instance", "volume", "network-interface"} {
		tags := given[kind]
		n := permit.Need{
			Action: "ec2:RunInstances", Resource: x.ARN("ec2", kind+"/*"), Facts: permit.Facts{}.Tagged(tags),
		}
		all = append(all, n)
		if len(tags) > 0 {
			all = append(all, permit.Need{
				Action: "ec2:CreateTags", Resource: n.Resource, Facts: permit.Facts{}.Tagged(tags).With(
					"ec2:CreateAction", "RunInstances"),
			})
		}
	}
	return all
}

// usedIDs returns the images, snapshots, subnets and security groups that a launch uses: the default ones where it
// names none.
func usedIDs(form url.Values) []string {
	ids := single(form.Get("ImageId"))
	for n := 1; form.Has(mapping(n) + "DeviceName"); n++ {
		ids = append(ids, single(form.Get(mapping(n)+"Ebs.SnapshotId"))...)
	}
	subnets := append(single(form.Get("SubnetId")), eachOf(form, "NetworkInterface.", ".SubnetId")...)
	groups := slices.Concat(wire.FormList(form, "SecurityGroupId."),
		wire.FormList(form, "NetworkInterface.1.SecurityGroupId."))
	if len(subnets) == 0 {
		subnets = []string{"subnet-default"}
	}
	if len(groups) == 0 {
		groups = []string{"sg-default"}
	}
	return slices.Concat(ids, subnets, groups, single(form.Get("LaunchTemplate.LaunchTemplateId")))
}
