package wire

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// FirstRefusal returns the first reply that is not nil.
func FirstRefusal(all ...*Reply) *Reply {
	for _, r := range all {
		if r != nil {
			return r
		}
	}
	return nil
}

// TagText is what RDS, S3, SNS and SQS accept in keys and values of tags.
var TagText = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

// OddTags refuses tags of the query protocol that have other characters.
func OddTags(x *Exchange, form url.Values, prefix string) *Reply {
	tags := map[string]string{}
	for name := range form {
		if number, ok := strings.CutSuffix(name, ".Key"); ok && strings.HasPrefix(name, prefix) {
			tags[form.Get(name)] = form.Get(number + ".Value")
		}
	}
	return OddTagsOf(x, tags)
}

// OddTagsOf refuses tags that have other characters than services accept.
func OddTagsOf(x *Exchange, tags map[string]string) *Reply {
	for key, value := range tags {
		if !TagText.MatchString(key) || !TagText.MatchString(value) {
			return x.Fail(http.StatusBadRequest, invalidParameter(x), "The tag "+key+
				" has characters that are not allowed.")
		}
	}
	return nil
}

// invalidParameter returns the service's error code for an invalid value.
func invalidParameter(x *Exchange) string {
	if x.Call.Service == "sns" {
		return "InvalidParameter"
	}
	return "InvalidParameterValue"
}

// DocumentsOf refuses attributes that must be JSON objects and are not.
func DocumentsOf(x *Exchange, attributes map[string]string) *Reply {
	for name, code := range map[string]string{"Policy": "InvalidAttributeValue", "FilterPolicy": "InvalidParameter"} {
		object := map[string]any{}
		if text := attributes[name]; text != "" && json.Unmarshal([]byte(text), &object) != nil {
			return x.Fail(http.StatusBadRequest, code, "Invalid parameter: "+name+": failed to parse JSON")
		}
	}
	return nil
}
