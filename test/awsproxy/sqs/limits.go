package sqs

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// refuse refuses values that SQS refuses regardless of existing resources, and moto accepts. The rows of
// test/awslimits have the sources.
func refuse(x *wire.Exchange) *wire.Reply {
	switch x.Call.Operation {
	case "CreateQueue", "SetQueueAttributes":
		return wire.FirstRefusal(wire.OddTagsOf(x, wire.JSONTexts(x.JSON["tags"])),
			wire.DocumentsOf(x, wire.JSONTexts(x.JSON["Attributes"])), deadLetterType(x))
	case "TagQueue":
		return wire.OddTagsOf(x, wire.JSONTexts(x.JSON["Tags"]))
	}
	return nil
}

// deadLetterType refuses a dead-letter queue of the other type (FIFO or standard), by the names in the call.
func deadLetterType(x *wire.Exchange) *wire.Reply {
	redrive := struct{ DeadLetterTargetArn string }{}
	if json.Unmarshal([]byte(wire.JSONTexts(x.JSON["Attributes"])["RedrivePolicy"]), &redrive) != nil ||
		redrive.DeadLetterTargetArn == "" {
		return nil
	}
	name, _ := x.JSON["QueueName"].(string)
	if name == "" {
		name, _ = x.JSON["QueueUrl"].(string)
	}
	if strings.HasSuffix(name, ".fifo") == strings.HasSuffix(redrive.DeadLetterTargetArn, ".fifo") {
		return nil
	}
	return x.Fail(http.StatusBadRequest, "InvalidParameterValue", "Value for parameter RedrivePolicy is invalid. "+
		"Reason: Dead-letter queue must be same type of queue as the source.")
}
