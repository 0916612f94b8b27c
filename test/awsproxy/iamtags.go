package awsproxy

import (
	"net/http"
	"strconv"
	"strings"
)

// refuseTags refuses reserved tags, and tags that exceed the limit together with the role's.
func refuseTags(x *exchange, role *storedRole) *reply {
	all := map[string]bool{}
	if role != nil {
		for key := range role.tags {
			all[strings.ToLower(key)] = true
		}
	}
	for key := range formTags(x.form, "Tags.member.") {
		if strings.HasPrefix(strings.ToLower(key), "aws:") {
			return x.fail(http.StatusBadRequest, "InvalidInput", "Tag keys must not begin with aws:, which is "+
				"reserved: "+key)
		}
		all[strings.ToLower(key)] = true
	}
	if len(all) > tagsPerRoleQuota {
		return exceeded(x, "Cannot exceed quota for TagsPerRole: " + strconv.Itoa(tagsPerRoleQuota))
	}
	return nil
}

// foldTagKeys changes the case of tag keys to that of the role's tags: IAM ignores their case.
func foldTagKeys(x *exchange, role *storedRole) {
	if role == nil || x.call.Operation != "TagRole" && x.call.Operation != "UntagRole" {
		return
	}
	for parameter, values := range x.form {
		isKey := strings.HasPrefix(parameter, "TagKeys.member.") || strings.HasPrefix(parameter, "Tags.member.") &&
			strings.HasSuffix(parameter, ".Key")
		for have := range role.tags {
			if isKey && strings.EqualFold(have, values[0]) {
				x.form[parameter] = []string{have}
			}
		}
	}
	x.setForm(x.form)
}
