package ec2

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/deleted"
)

// Deleted finds machines that were kept, or stopped instead of being terminated.
var Deleted = deleted.Kind{Types: []string{"ec2:instance"}, Describe: describeDeleted}

func describeDeleted(ctx context.Context, s *cloud.Session, found []deleted.Found) (
	all []operatorapi.Deleted, err error,
) {
	byID := map[string]deleted.Found{}
	for _, f := range found {
		byID[f.LastPart("/")] = f
	}
	err = serviceFor(s).pages(ctx, func(seen instanceState) {
		if f, ok := byID[seen.id()]; ok {
			all = append(all, keptMachine(f, seen))
		}
	}, filter("instance-id", sortedKeys(byID)...),
		filter("instance-state-name", "pending", "running", "stopping", "stopped"))
	return all, err
}

func keptMachine(f deleted.Found, seen instanceState) operatorapi.Deleted {
	item := f.Item(seen.id())
	item.Facts = string(seen.vm.InstanceType) + ", " + string(seen.state())
	item.Fields["instanceName"], item.Fields["instanceType"] = cmp.Or(seen.tags["Name"], f.Name),
		string(seen.vm.InstanceType)
	for field, value := range map[string]*string{
		"imageID": seen.vm.ImageId, "keyName": seen.vm.KeyName,
		"subnetID": seen.vm.SubnetId,
	} {
		if text := aws.ToString(value); text != "" {
			item.Fields[field] = text
		}
	}
	return item
}
