package awsproxy

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// beyondLimits refuses values that AWS refuses regardless of existing resources, and moto accepts. The rows of
// test/awslimits have the sources.
func beyondLimits(x *exchange) *reply {
	switch x.call.Service + ":" + x.call.Operation {
	case "rds:CreateDBInstance":
		return firstRefusal(oddTags(x, x.form, "Tags.Tag."), databaseStorage(x, x.form), databaseWindows(x, x.form),
			databaseNames(x))
	case "rds:AddTagsToResource":
		return oddTags(x, x.form, "Tags.Tag.")
	case "sns:CreateTopic":
		return oddTags(x, x.form, "Tags.member.")
	case "sns:Subscribe":
		return documentsOf(x, attributesOf(x))
	case "sns:TagResource":
		return oddTags(x, x.form, "Tags.member.")
	case "sns:SetSubscriptionAttributes":
		return documentsOf(x, map[string]string{x.form.Get("AttributeName"): x.form.Get("AttributeValue")})
	case "sqs:CreateQueue", "sqs:SetQueueAttributes":
		return firstRefusal(oddTagsOf(x, texts(x.json["tags"])), documentsOf(x, texts(x.json["Attributes"])),
			deadLetterType(x))
	case "sqs:TagQueue":
		return oddTagsOf(x, texts(x.json["Tags"]))
	case "s3:PutBucketTagging":
		return bucketTags(x)
	case "s3:PutBucketLifecycleConfiguration":
		return transitions(x)
	case "s3:PutBucketCors":
		return origins(x)
	case "ec2:RunInstances":
		return firstRefusal(volumesOf(x), userData(x))
	}
	return nil
}

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

// deadLetterType refuses a dead-letter queue of the other type (FIFO or standard), by the names in the call.
func deadLetterType(x *exchange) *reply {
	redrive := struct{ DeadLetterTargetArn string }{}
	if json.Unmarshal([]byte(texts(x.json["Attributes"])["RedrivePolicy"]), &redrive) != nil ||
		redrive.DeadLetterTargetArn == "" {
		return nil
	}
	name, _ := x.json["QueueName"].(string)
	if name == "" {
		name, _ = x.json["QueueUrl"].(string)
	}
	if strings.HasSuffix(name, ".fifo") == strings.HasSuffix(redrive.DeadLetterTargetArn, ".fifo") {
		return nil
	}
	return x.fail(http.StatusBadRequest, "InvalidParameterValue", "Value for parameter RedrivePolicy is invalid. "+
		"Reason: Dead-letter queue must be same type of queue as the source.")
}
