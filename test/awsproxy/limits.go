package awsproxy

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

func firstRefusal(all ...*reply) *reply {
	for _, r := range all {
		if r != nil {
			return r
		}
	}
	return nil
}

// tagText is what RDS, S3, SNS and SQS accept in keys and values of tags.
var tagText = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

// oddTags refuses tags of the query protocol that have other characters.
func oddTags(x *exchange, form url.Values, prefix string) *reply {
	tags := map[string]string{}
	for name := range form {
		if number, ok := strings.CutSuffix(name, ".Key"); ok && strings.HasPrefix(name, prefix) {
			tags[form.Get(name)] = form.Get(number + ".Value")
		}
	}
	return oddTagsOf(x, tags)
}

func oddTagsOf(x *exchange, tags map[string]string) *reply {
	for key, value := range tags {
		if !tagText.MatchString(key) || !tagText.MatchString(value) {
			return x.fail(http.StatusBadRequest, invalidParameter(x), "The tag "+key+
				" has characters that are not allowed.")
		}
	}
	return nil
}

// invalidParameter returns the service's error code for an invalid value.
func invalidParameter(x *exchange) string {
	if x.call.Service == "sns" {
		return "InvalidParameter"
	}
	return "InvalidParameterValue"
}

// texts returns the members of a JSON object that are strings.
func texts(of any) map[string]string {
	all := map[string]string{}
	members, _ := of.(map[string]any)
	for name, value := range members {
		if text, ok := value.(string); ok {
			all[name] = text
		}
	}
	return all
}

// documentsOf refuses attributes that must be JSON objects and are not.
func documentsOf(x *exchange, attributes map[string]string) *reply {
	for name, code := range map[string]string{"Policy": "InvalidAttributeValue", "FilterPolicy": "InvalidParameter"} {
		object := map[string]any{}
		if text := attributes[name]; text != "" && json.Unmarshal([]byte(text), &object) != nil {
			return x.fail(http.StatusBadRequest, code, "Invalid parameter: "+name+": failed to parse JSON")
		}
	}
	return nil
}

// number returns a parameter that is a number; 0 if it is not.
func number(form url.Values, name string) int {
	n, _ := strconv.Atoi(form.Get(name))
	return n
}
