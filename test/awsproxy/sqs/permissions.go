package sqs

import (
	"context"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Needs returns the permissions of a call to SQS: the one named like the operation, and to tag, if a queue is
// created with tags.
func (s *Service) Needs(_ context.Context, x *wire.Exchange) ([]permit.Need, error) {
	if x.Call.Operation == "ListQueues" {
		return permit.Plain("sqs:ListQueues", x.ARN("sqs", "*")), nil
	}
	account, name := QueueOf(x)
	resource := x.ARN("sqs", name)
	if account != "" {
		resource = wire.ARN{
			Partition: wire.Partition(x.Call.Region), Service: "sqs", Region: x.Call.Region, Account: account,
			Resource: name,
		}.String()
	}
	n := permit.Need{Action: "sqs:" + x.Call.Operation, Resource: resource, Facts: permit.Facts{}}
	n.Tags = func(ctx context.Context) (map[string]string, bool, error) { return queueTags(ctx, s.upstream, x, name) }
	switch x.Call.Operation {
	case "GetQueueUrl", "GetQueueAttributes", "SetQueueAttributes", "ListQueueTags", "DeleteQueue", "SendMessage",
		"ReceiveMessage", "DeleteMessage",
		"ChangeMessageVisibility", "PurgeQueue":
	case "SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch":
		n.Action = strings.TrimSuffix(n.Action, "Batch") // one permission covers both
	case "TagQueue":
		n.Facts.Tagged(wire.JSONTexts(x.JSON["Tags"]))
	case "UntagQueue":
		n.Facts.Untagging(slices.Values(wire.JSONList(x.JSON["TagKeys"])))
	case "CreateQueue":
		tags := wire.JSONTexts(x.JSON["tags"])
		n.Facts.Tagged(tags)
		n.MayBeNew = true
		if len(tags) > 0 {
			tagging := n
			tagging.Action = "sqs:TagQueue"
			return []permit.Need{n, tagging}, nil
		}
	default:
		return nil, permit.UnknownOperation(x)
	}
	return []permit.Need{n}, nil
}

// QueueOf returns the queue's name, and its account if the call names one.
func QueueOf(x *wire.Exchange) (account, name string) {
	if url, _ := x.JSON["QueueUrl"].(string); url != "" {
		parts := strings.Split(url, "/")
		if len(parts) > 1 {
			return parts[len(parts)-2], parts[len(parts)-1]
		}
	}
	account, _ = x.JSON["QueueOwnerAWSAccountId"].(string)
	return account, x.Call.Resource
}

func queueTags(ctx context.Context, up *wire.Upstream, x *wire.Exchange, name string) (map[string]string, bool, error) {
	var answer struct{ Tags map[string]string }
	found, err := up.AskJSON(ctx, x, "sqs", "AmazonSQS.ListQueueTags",
		map[string]any{"QueueUrl": "http://sqs/" + x.Account() + "/" + name}, &answer)
	return answer.Tags, found, err
}
