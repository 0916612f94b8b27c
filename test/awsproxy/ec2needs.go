package awsproxy

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// ec2OnInstance are the operations that need one permission, named like the operation, on the instances that they
// name.
var ec2OnInstance = map[string]bool{
	"StartInstances": true, "StopInstances": true, "TerminateInstances": true, "RebootInstances": true,
	"DescribeInstanceAttribute":     true,
	"ModifyInstanceMetadataOptions": true, "ModifyInstanceCreditSpecification": true, "MonitorInstances": true,
	"UnmonitorInstances": true,
}

// ec2Needs returns the permissions of a call to EC2: the one named like the operation, on each resource that the call
// is about.
func (s *ec2Service) needs(ctx context.Context, x *exchange) ([]need, error) {
	up := s.upstream
	op := x.call.Operation
	switch {
	case ec2OnInstance[op]:
		return ec2On(up, x, slices.Concat(formList(x.form, "InstanceId."), single(x.form.Get("InstanceId")),
			eachOf(x.form, "InstanceCreditSpecification.", ".InstanceId"))...), nil
	case op == "RunInstances":
		return launchNeeds(ctx, up, x)
	case op == "ModifyInstanceAttribute":
		return attributeNeeds(ctx, up, x)
	case op == "ModifyVolume":
		return ec2On(up, x, x.form.Get("VolumeId")), nil
	case op == "CreateTags", op == "DeleteTags":
		all := ec2On(up, x, formList(x.form, "ResourceId.")...)
		for i := range all {
			tags := formTags(x.form, "Tag.")
			if op == "CreateTags" {
				all[i].facts.tagged(tags)
			}
			all[i].facts.untagging(maps.Keys(tags))
		}
		return all, nil
	case strings.HasSuffix(op, "IamInstanceProfile"), op == "ReplaceIamInstanceProfileAssociation":
		return profileNeeds(ctx, up, x)
	case strings.HasPrefix(op, "Describe"), op == "GetConsoleOutput":
		return plainNeed("ec2:"+op, "*"), nil
	}
	return nil, unknownOperation(x)
}

// single returns a list of the text; nil if it is empty.
func single(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// eachOf reads prefix1suffix, prefix2suffix, and so on.
func eachOf(form url.Values, prefix, suffix string) []string {
	return slices.Sorted(maps.Values(pairs(form, prefix+"%d"+suffix, prefix+"%d"+suffix)))
}

// ec2Kinds are the kinds of resources by the prefix of their IDs.
var ec2Kinds = map[string]string{
	"i": "instance", "vol": "volume", "sg": "security-group", "subnet": "subnet", "eni": "network-interface",
	"snap": "snapshot", "ami": "image",
	"vpc": "vpc", "lt": "launch-template",
}

// ec2ARN returns the ARN of a resource by its ID. The ARNs of images and snapshots have no account.
func ec2ARN(x *exchange, id string) string {
	beginning, _, _ := strings.Cut(id, "-")
	kind := ec2Kinds[beginning]
	if kind == "image" || kind == "snapshot" {
		return strings.Join([]string{"arn", partition(x.call.Region), "ec2", x.call.Region, "", kind + "/" + id}, ":")
	}
	return x.arn("ec2", kind+"/"+id)
}

// ec2On returns the operation's permission on each resource.
func ec2On(up *upstream, x *exchange, ids ...string) []need {
	var all []need
	for _, id := range ids {
		n := need{action: "ec2:" + x.call.Operation, resource: ec2ARN(x, id), facts: facts{}}
		n.tags = func(ctx context.Context) (map[string]string, bool, error) { return ec2Tags(ctx, up, x, id) }
		all = append(all, n)
	}
	return all
}

// ec2Tags returns the tags of a resource; found is false for an instance or a volume that does not exist.
func ec2Tags(ctx context.Context, up *upstream, x *exchange, id string) (map[string]string, bool, error) {
	version := x.form.Get("Version")
	tags, found, err := formTagsOf(ctx, up, x, "ec2", url.Values{
		"Action": {"DescribeTags"}, "Version": {version}, "Filter.1.Name": {"resource-id"}, "Filter.1.Value.1": {id},
	})
	if err != nil || len(tags) > 0 {
		return tags, found, err
	}
	look := url.Values{"Action": {"DescribeInstances"}, "Version": {version}, "InstanceId.1": {id}}
	if strings.HasPrefix(id, "vol-") {
		look = url.Values{"Action": {"DescribeVolumes"}, "Version": {version}, "VolumeId.1": {id}}
	} else if !strings.HasPrefix(id, "i-") {
		return nil, true, nil
	}
	r, err := up.askForm(ctx, x, "ec2", look)
	return nil, err == nil && r.status == http.StatusOK, r.broken(err)
}

// attributeNeeds returns the permissions of ModifyInstanceAttribute, which also include the security groups and
// volumes that it names.
func attributeNeeds(ctx context.Context, up *upstream, x *exchange) ([]need, error) {
	ids := append(single(x.form.Get("InstanceId")), formList(x.form, "GroupId.")...)
	for _, device := range eachOf(x.form, "BlockDeviceMapping.", ".DeviceName") {
		r, err := up.askForm(ctx, x, "ec2", url.Values{
			"Action": {"DescribeVolumes"}, "Version": {x.form.Get("Version")}, "Filter.1.Name": {"attachment.instance-id"}, "Filter.1.Value.1": {x.form.Get("InstanceId")},
			"Filter.2.Name": {"attachment.device"}, "Filter.2.Value.1": {device},
		})
		if err != nil {
			return nil, err
		}
		if m := volumeID.FindSubmatch(r.body); m != nil {
			ids = append(ids, string(m[1]))
		}
	}
	return ec2On(up, x, ids...), nil
}

var profileRole = regexp.MustCompile(`(?s)<Roles>.*?<Arn>([^<]+)</Arn>`)

// passNeeds returns the permission to pass the role of an instance profile, by name or ARN, to EC2. If the profile
// does not exist, EC2 reports that itself.
func passNeeds(ctx context.Context, up *upstream, x *exchange) ([]need, error) {
	name := x.form.Get("IamInstanceProfile.Name")
	if arn := x.form.Get("IamInstanceProfile.Arn"); arn != "" {
		name = arn[strings.LastIndex(arn, "/")+1:]
	}
	if name == "" {
		return nil, nil
	}
	r, err := up.askForm(ctx, x, "iam", url.Values{
		"Action": {"GetInstanceProfile"}, "Version": {"2010-05-08"},
		"InstanceProfileName": {name},
	})
	if err != nil {
		return nil, err
	}
	m := profileRole.FindSubmatch(r.body)
	if m == nil {
		return nil, nil
	}
	return []need{{
		action: "iam:PassRole", resource: string(m[1]),
		facts: facts{}.with("iam:PassedToService", "ec2.amazonaws.com"),
	}}, nil
}

var associated = regexp.MustCompile(`<instanceId>([^<]+)</instanceId>`)

// profileNeeds returns the permissions to put another instance profile on an instance, or to remove it.
func profileNeeds(ctx context.Context, up *upstream, x *exchange) ([]need, error) {
	id := x.form.Get("InstanceId")
	if association := x.form.Get("AssociationId"); association != "" {
		r, err := up.askForm(ctx, x, "ec2", url.Values{
			"Action": {"DescribeIamInstanceProfileAssociations"}, "Version": {x.form.Get("Version")}, "AssociationId.1": {association},
		})
		if err != nil {
			return nil, err
		}
		m := associated.FindSubmatch(r.body)
		if m == nil {
			return nil, nil // EC2 reports that it does not exist
		}
		id = string(m[1])
	}
	pass, err := passNeeds(ctx, up, x)
	return append(ec2On(up, x, id), pass...), err
}
