package awsproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// sqsNeeds returns the permissions of a call to SQS: the one named like the operation, and to tag, if a queue is
// created with tags.
func (s *sqsService) needs(_ context.Context, x *exchange) ([]need, error) {
	if x.call.Operation == "ListQueues" {
		return plainNeed("sqs:ListQueues", x.arn("sqs", "*")), nil
	}
	account, name := queueOf(x)
	resource := x.arn("sqs", name)
	if account != "" {
		resource = strings.Join([]string{"arn", partition(x.call.Region), "sqs", x.call.Region, account, name}, ":")
	}
	n := need{action: "sqs:" + x.call.Operation, resource: resource, facts: facts{}}
	n.tags = func(ctx context.Context) (map[string]string, bool, error) { return queueTags(ctx, s.upstream, x, name) }
	switch x.call.Operation {
	case "GetQueueUrl", "GetQueueAttributes", "SetQueueAttributes", "ListQueueTags", "DeleteQueue", "SendMessage",
		"ReceiveMessage", "DeleteMessage",
		"ChangeMessageVisibility", "PurgeQueue":
	case "SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch":
		n.action = strings.TrimSuffix(n.action, "Batch") // one permission covers both
	case "TagQueue":
		n.facts.tagged(jsonTexts(x.json["Tags"]))
	case "UntagQueue":
		n.facts.untagging(slices.Values(jsonList(x.json["TagKeys"])))
	case "CreateQueue":
		tags := jsonTexts(x.json["tags"])
		n.facts.tagged(tags)
		n.mayBeNew = true
		if len(tags) > 0 {
			tagging := n
			tagging.action = "sqs:TagQueue"
			return []need{n, tagging}, nil
		}
	default:
		return nil, unknownOperation(x)
	}
	return []need{n}, nil
}

// queueOf returns the queue's name, and its account if the call names one.
func queueOf(x *exchange) (account, name string) {
	if url, _ := x.json["QueueUrl"].(string); url != "" {
		parts := strings.Split(url, "/")
		if len(parts) > 1 {
			return parts[len(parts)-2], parts[len(parts)-1]
		}
	}
	account, _ = x.json["QueueOwnerAWSAccountId"].(string)
	return account, x.call.Resource
}

func queueTags(ctx context.Context, up *upstream, x *exchange, name string) (map[string]string, bool, error) {
	var answer struct{ Tags map[string]string }
	found, err := up.askJSON(ctx, x, "sqs", "AmazonSQS.ListQueueTags",
		map[string]any{"QueueUrl": "http://sqs/" + x.account() + "/" + name}, &answer)
	return answer.Tags, found, err
}

// askJSON calls a service with a JSON protocol; found is false if the service refuses.
func (u *upstream) askJSON(ctx context.Context, x *exchange, service, target string, input, answer any) (
	found bool, err error,
) {
	body, err := json.Marshal(input)
	if err != nil {
		return false, err
	}
	r, err := u.ask(ctx, question{
		service: service, region: x.call.Region, account: x.account(), method: http.MethodPost, path: "/",
		body:   string(body),
		header: map[string]string{"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1"},
	})
	if err != nil || r.status != http.StatusOK {
		return false, r.broken(err)
	}
	return true, json.Unmarshal(r.body, answer)
}

// broken returns err, or an error for the simulator's failure, which does not prove that a resource is missing.
func (r *reply) broken(err error) error {
	if err == nil && r.status >= http.StatusInternalServerError {
		return fmt.Errorf("the simulator answered %d: %s", r.status, r.body)
	}
	return err
}

// jsonTexts reads an object of strings.
func jsonTexts(v any) map[string]string {
	all := map[string]string{}
	object, _ := v.(map[string]any)
	for key, value := range maps.All(object) {
		all[key], _ = value.(string)
	}
	return all
}

// jsonList reads a list of strings.
func jsonList(v any) []string {
	var all []string
	list, _ := v.([]any)
	for _, item := range list {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// jsonTags reads a list of tags, each with Key and Value.
func jsonTags(v any) map[string]string {
	all := map[string]string{}
	list, _ := v.([]any)
	for _, item := range list {
		t := jsonTexts(item)
		all[t["Key"]] = t["Value"]
	}
	return all
}
