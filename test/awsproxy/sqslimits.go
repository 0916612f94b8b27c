package awsproxy

import (
	"encoding/json"
	"net/http"
	"strings"
)

// refuseSQS refuses values that SQS refuses regardless of existing resources, and moto accepts. The rows of
// test/awslimits have the sources.
func refuseSQS(x *exchange) *reply {
	switch x.call.Operation {
	case "CreateQueue", "SetQueueAttributes":
		return firstRefusal(oddTagsOf(x, texts(x.json["tags"])), documentsOf(x, texts(x.json["Attributes"])),
			deadLetterType(x))
	case "TagQueue":
		return oddTagsOf(x, texts(x.json["Tags"]))
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
