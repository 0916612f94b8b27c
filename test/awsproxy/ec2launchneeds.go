package awsproxy

import (
	"context"
	"fmt"
	"net/url"
	"slices"
)

// launchNeeds returns the permissions of RunInstances: on each resource that it creates, which has the tags of the
// request, and on each that it uses; to tag what it creates; to pass the role of the instance profile; and to use the
// keys of volumes.
func launchNeeds(ctx context.Context, up *upstream, x *exchange) ([]need, error) {
	all := madeNeeds(x)
	for _, id := range usedIDs(x.form) {
		all = append(all, need{action: "ec2:RunInstances", resource: ec2ARN(x, id)})
	}
	if key := x.form.Get("KeyName"); key != "" {
		all = append(all, need{action: "ec2:RunInstances", resource: x.arn("ec2", "key-pair/"+key)})
	}
	pass, err := passNeeds(ctx, up, x)
	if err != nil {
		return nil, err
	}
	all = append(all, pass...)
	for n := 1; x.form.Has(mapping(n) + "DeviceName"); n++ {
		if key := x.form.Get(mapping(n) + "Ebs.KmsKeyId"); key != "" {
			all = append(all, keyNeeds(x, "ec2", key, nil, "kms:DescribeKey", "kms:CreateGrant", "kms:Decrypt",
				"kms:GenerateDataKeyWithoutPlaintext",
				"kms:ReEncryptFrom", "kms:ReEncryptTo")...)
		}
	}
	return all, nil
}

// madeNeeds returns the permissions on the resources that a launch creates.
func madeNeeds(x *exchange) []need {
	given := map[string]map[string]string{}
	for n := 1; x.form.Has(fmt.Sprintf("TagSpecification.%d.ResourceType", n)); n++ {
		given[x.form.Get(fmt.Sprintf("TagSpecification.%d.ResourceType", n))] = formTags(
			x.form, fmt.Sprintf("TagSpecification.%d.Tag.", n))
	}
	var all []need
	for _, kind := range []string{"instance", "volume", "network-interface"} {
		tags := given[kind]
		n := need{action: "ec2:RunInstances", resource: x.arn("ec2", kind+"/*"), facts: facts{}.tagged(tags)}
		all = append(all, n)
		if len(tags) > 0 {
			all = append(all, need{
				action: "ec2:CreateTags", resource: n.resource, facts: facts{}.tagged(tags).with(
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
	groups := slices.Concat(formList(form, "SecurityGroupId."), formList(form, "NetworkInterface.1.SecurityGroupId."))
	if len(subnets) == 0 {
		subnets = []string{"subnet-default"}
	}
	if len(groups) == 0 {
		groups = []string{"sg-default"}
	}
	return slices.Concat(ids, subnets, groups, single(form.Get("LaunchTemplate.LaunchTemplateId")))
}
