package ec2

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// The tags of a volume that docs/iam/ec2instance.json requires: the namespace's tag on a volume that is changed, an
// offer's tag on one that is tagged.
const (
	namespaceTag = "portico.dev/namespace"
	adoptTag     = "portico.dev/adopt"
)

// permit refuses the operator what its policy does not allow on volumes: a volume has its own tags, not those of its
// instance.
func (s *Service) permit(ctx context.Context, x *wire.Exchange) (refused *wire.Reply, err error) {
	if x.Call.Actor != wire.Operator {
		return nil, nil
	}
	volumes, needed, err := s.changedVolumes(ctx, x)
	if err != nil {
		return nil, err
	}
	for _, id := range volumes {
		tags, there, err := s.volumeTags(ctx, x, id)
		if err != nil {
			return nil, err
		}
		if there && tags[needed] == "" { // moto reports a missing volume
			return x.Fail(http.StatusForbidden, "UnauthorizedOperation",
				"You are not authorized to perform this operation. User is not authorized to perform: ec2:"+
					x.Call.Operation+
					" on resource: volume/"+id+" because no identity-based policy allows the action"), nil
		}
	}
	return nil, nil
}

// changedVolumes returns the volumes that the call changes, and the tag that each of them must have.
func (s *Service) changedVolumes(ctx context.Context, x *wire.Exchange) (volumes []string, needed string, err error) {
	switch x.Call.Operation {
	case "ModifyVolume":
		return []string{x.Form.Get("VolumeId")}, namespaceTag, nil
	case "ModifyInstanceAttribute":
		for n := 1; x.Form.Has(mapping(n) + "DeviceName"); n++ {
			id, err := s.volumeAt(ctx, x, x.Form.Get("InstanceId"), x.Form.Get(mapping(n)+"DeviceName"))
			if err != nil {
				return nil, "", err
			}
			volumes = append(volumes, id)
		}
		return volumes, namespaceTag, nil
	case "CreateTags", "DeleteTags":
		needed = namespaceTag
		if x.Call.Operation == "CreateTags" {
			needed = adoptTag
		}
		for n := 1; x.Form.Has("ResourceId." + strconv.Itoa(n)); n++ {
			if id := x.Form.Get("ResourceId." + strconv.Itoa(n)); strings.HasPrefix(id, "vol-") {
				volumes = append(volumes, id)
			}
		}
	}
	return volumes, needed, nil
}

var tagItem = regexp.MustCompile(`<key>([^<]*)</key>\s*<value>([^<]*)</value>`)

func (s *Service) volumeTags(ctx context.Context, x *wire.Exchange, id string) (
	tags map[string]string, there bool, err error,
) {
	r, err := s.ask(ctx, x, url.Values{"Action": {"DescribeVolumes"}, "VolumeId.1": {id}})
	if err != nil || !volumeID.Match(r.Body) {
		return nil, false, err
	}
	tags = map[string]string{}
	for _, m := range tagItem.FindAllSubmatch(r.Body, -1) {
		tags[string(m[1])] = string(m[2])
	}
	return tags, true, nil
}
