package ec2

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// onInstances are the operations that need one permission, named like the operation, on the instances that they
// name.
var onInstances = map[string]bool{
	"StartInstances": true, "StopInstances": true, "TerminateInstances": true, "RebootInstances": true,
	"DescribeInstanceAttribute":     true,
	"ModifyInstanceMetadataOptions": true, "ModifyInstanceCreditSpecification": true, "MonitorInstances": true,
	"UnmonitorInstances": true,
}

// Needs returns the permissions of a call to EC2: the one named like the operation, on each resource that the call
// is about.
func (s *Service) Needs(ctx context.Context, x *wire.Exchange) ([]permit.Need, error) {
	up := s.upstream
	op := x.Call.Operation
	switch {
	case onInstances[op]:
		return needsOn(up, x, slices.Concat(wire.FormList(x.Form, "InstanceId."), single(x.Form.Get("InstanceId")),
			eachOf(x.Form, "InstanceCreditSpecification.", ".InstanceId"))...), nil
	case op == "RunInstances":
		return launchNeeds(ctx, up, x)
	case op == "ModifyInstanceAttribute":
		return attributeNeeds(ctx, up, x)
	case op == "ModifyVolume":
		return needsOn(up, x, x.Form.Get("VolumeId")), nil
	case op == "CreateTags", op == "DeleteTags":
		all := needsOn(up, x, wire.FormList(x.Form, "ResourceId.")...)
		for i := range all {
			tags := wire.FormTags(x.Form, "Tag.")
			if op == "CreateTags" {
				all[i].Facts.Tagged(tags)
			}
			all[i].Facts.Untagging(maps.Keys(tags))
		}
		return all, nil
	case strings.HasSuffix(op, "IamInstanceProfile"), op == "ReplaceIamInstanceProfileAssociation":
		return profileNeeds(ctx, up, x)
	case strings.HasPrefix(op, "Describe"), op == "GetConsoleOutput":
		return permit.Plain("ec2:"+op, "*"), nil
	}
	return nil, permit.UnknownOperation(x)
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
	return slices.Sorted(maps.Values(wire.Pairs(form, prefix+"%d"+suffix, prefix+"%d"+suffix)))
}

// kinds are the kinds of resources by the prefix of their IDs.
var kinds = map[string]string{
	"i": "instance", "vol": "volume", "sg": "security-group", "subnet": "subnet", "eni": "network-interface",
	"snap": "snapshot", "ami": "image",
	"vpc": "vpc", "lt": "launch-template",
}

// arnOf returns the ARN of a resource by its ID. The ARNs of images and snapshots have no account.
func arnOf(x *wire.Exchange, id string) string {
	beginning, _, _ := strings.Cut(id, "-")
	kind := kinds[beginning]
	if kind == "image" || kind == "snapshot" {
		return wire.ARN{
			Partition: wire.Partition(x.Call.Region), Service: "ec2", Region: x.Call.Region, Resource: kind + "/" + id,
		}.String()
	}
	return x.ARN("ec2", kind+"/"+id)
}

// needsOn returns the operation's permission on each resource.
func needsOn(up *wire.Upstream, x *wire.Exchange, ids ...string) []permit.Need {
	var all []permit.Need
	for _, id := range ids {
		n := permit.Need{Action: "ec2:" + x.Call.Operation, Resource: arnOf(x, id), Facts: permit.Facts{}}
		n.Tags = func(ctx context.Context) (map[string]string, bool, error) { return tagsOfID(ctx, up, x, id) }
		all = append(all, n)
	}
	return all
}

// tagsOfID returns the tags of a resource; found is false for an instance or a volume that does not exist.
func tagsOfID(ctx context.Context, up *wire.Upstream, x *wire.Exchange, id string) (map[string]string, bool, error) {
	version := x.Form.Get("Version")
	tags, found, err := wire.FormTagsOf(ctx, up, x, "ec2", url.Values{
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
	r, err := up.AskForm(ctx, x, "ec2", look)
	return nil, err == nil && r.Status == http.StatusOK, r.Broken(err)
}

// attributeNeeds returns the permissions of ModifyInstanceAttribute, which also include the security groups and
// volumes that it names.
func attributeNeeds(ctx context.Context, up *wire.Upstream, x *wire.Exchange) ([]permit.Need, error) {
	ids := append(single(x.Form.Get("InstanceId")), wire.FormList(x.Form, "GroupId.")...)
	for _, device := range eachOf(x.Form, "BlockDeviceMapping.", ".DeviceName") {
		r, err := up.AskForm(ctx, x, "ec2", url.Values{
			"Action": {"DescribeVolumes"}, "Version": {x.Form.Get("Version")}, "Filter.1.Name": {"attachment.instance-id"}, "Filter.1.Value.1": {x.Form.Get("InstanceId")},
			"Filter.2.Name": {"attachment.device"}, "Filter.2.Value.1": {device},
		})
		if err != nil {
			return nil, err
		}
		if m := volumeID.FindSubmatch(r.Body); m != nil {
			ids = append(ids, string(m[1]))
		}
	}
	return needsOn(up, x, ids...), nil
}

var profileRole = regexp.MustCompile(`(?s)<Roles>.*?<Arn>([^<]+)</Arn>`)

// passNeeds returns the permission to pass the role of an instance profile, by name or ARN, to EC2. If the profile
// does not exist, EC2 reports that itself.
func passNeeds(ctx context.Context, up *wire.Upstream, x *wire.Exchange) ([]permit.Need, error) {
	name := x.Form.Get("IamInstanceProfile.Name")
	if arn := x.Form.Get("IamInstanceProfile.Arn"); arn != "" {
		name = arn[strings.LastIndex(arn, "/")+1:]
	}
	if name == "" {
		return nil, nil
	}
	r, err := up.AskForm(ctx, x, "iam", url.Values{
		"Action": {"GetInstanceProfile"}, "Version": {"2010-05-08"},
		"InstanceProfileName": {name},
	})
	if err != nil {
		return nil, err
	}
	m := profileRole.FindSubmatch(r.Body)
	if m == nil {
		return nil, nil
	}
	return []permit.Need{{
		Action: "iam:PassRole", Resource: string(m[1]),
		Facts: permit.Facts{}.With("iam:PassedToService", "ec2.amazonaws.com"),
	}}, nil
}

// profileNeeds returns the permissions to put another instance profile on an instance, or to remove it.
func profileNeeds(ctx context.Context, up *wire.Upstream, x *wire.Exchange) ([]permit.Need, error) {
	id := x.Form.Get("InstanceId")
	if association := x.Form.Get("AssociationId"); association != "" {
		r, err := up.AskForm(ctx, x, "ec2", url.Values{
			"Action": {"DescribeIamInstanceProfileAssociations"}, "Version": {x.Form.Get("Version")}, "AssociationId.1": {association},
		})
		if err != nil {
			return nil, err
		}
		m := instanceID.FindSubmatch(r.Body)
		if m == nil {
			return nil, nil // EC2 reports that it does not exist
		}
		id = string(m[1])
	}
	pass, err := passNeeds(ctx, up, x)
	return append(needsOn(up, x, id), pass...), err
}
