package iam

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// refuseTags refuses reserved tags, and tags that exceed the limit together with the role's.
func refuseTags(x *wire.Exchange, role *Role) *wire.Reply {
	all := map[string]bool{}
	if role != nil {
		for key := range role.tags {
			all[strings.ToLower(key)] = true
		}
	}
	for key := range wire.FormTags(x.Form, "Tags.member.") {
		if strings.HasPrefix(strings.ToLower(key), "aws:") {
			return x.Fail(http.StatusBadRequest, "InvalidInput", "Tag keys must not begin with aws:, which is "+
				"reserved: "+key)
		}
		all[strings.ToLower(key)] = true
	}
	if len(all) > tagsPerRoleQuota {
		return exceeded(x, "Cannot exceed quota for TagsPerRole: "+strconv.Itoa(tagsPerRoleQuota))
	}
	return nil
}

// foldTagKeys changes the case of tag keys to that of the role's tags: IAM ignores their case.
func foldTagKeys(x *wire.Exchange, role *Role) {
	if role == nil || x.Call.Operation != "TagRole" && x.Call.Operation != "UntagRole" {
		return
	}
	for parameter, values := range x.Form {
		isKey := strings.HasPrefix(parameter, "TagKeys.member.") || strings.HasPrefix(parameter, "Tags.member.") &&
			strings.HasSuffix(parameter, ".Key")
		for have := range role.tags {
			if isKey && strings.EqualFold(have, values[0]) {
				x.Form[parameter] = []string{have}
			}
		}
	}
	x.SetForm(x.Form)
}
