package awsproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// redriveAllow is the attribute that moto accepts and does not store.
const redriveAllow = "RedriveAllowPolicy"

// remember stores the attribute of a queue that was created or changed with it; an empty value removes it.
func (s *sqsService) remember(x *exchange, queue string, r *reply) {
	given, _ := x.json["Attributes"].(map[string]any)
	policy, ok := given[redriveAllow].(string)
	if !ok || r.status != http.StatusOK {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.allow[queue] = policy; policy == "" {
		delete(s.allow, queue)
	}
}

// keptOut refuses a queue whose dead-letter queue does not accept it as source: "which source queues can specify
// dead-letter queues" (RedriveAllowPolicy, SQS API Reference). The message is not documented.
func (s *sqsService) keptOut(x *exchange, queueARN string) *reply {
	given, _ := x.json["Attributes"].(map[string]any)
	text, _ := given["RedrivePolicy"].(string)
	var redrive struct{ DeadLetterTargetArn string }
	if text == "" || json.Unmarshal([]byte(text), &redrive) != nil {
		return nil
	}
	to := splitARN(redrive.DeadLetterTargetArn)
	s.mu.Lock()
	policy, ok := s.allow[to.account+"/"+to.region+"/"+to.resource]
	s.mu.Unlock()
	var allow struct {
		RedrivePermission string
		SourceQueueArns   []string
	}
	if !ok || json.Unmarshal([]byte(policy), &allow) != nil || allow.RedrivePermission == "allowAll" ||
		allow.RedrivePermission == "byQueue" && slices.Contains(allow.SourceQueueArns, queueARN) {
		return nil
	}
	return x.fail(http.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf(
		"Value %s for parameter RedrivePolicy is invalid. Reason: Dead letter target does not allow this source queue.",
		text)).
		queryCode(x, "InvalidParameterValue")
}

// deadLetters turns moto's error about a missing dead-letter queue, which names the queue itself, into SQS's.
func deadLetters(x *exchange) func(*reply, error) (*reply, error) {
	return func(r *reply, err error) (*reply, error) {
		if err != nil || r.status != http.StatusBadRequest || !bytes.Contains(r.body, []byte("Could not find DLQ")) {
			return r, err
		}
		given, _ := x.json["Attributes"].(map[string]any)
		return x.fail(http.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf(
			"Value %v for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.",
			given["RedrivePolicy"])).
			queryCode(x, "InvalidParameterValue"), nil
	}
}

// attributes adds to GetQueueAttributes the attribute that moto does not store.
func (s *sqsService) attributes(ctx context.Context, queue string, next forward) (*reply, error) {
	r, err := next(ctx)
	s.mu.Lock()
	policy, ok := s.allow[queue]
	s.mu.Unlock()
	if err != nil || r.status != http.StatusOK || !ok {
		return r, err
	}
	var out struct{ Attributes map[string]string }
	if err := json.Unmarshal(r.body, &out); err != nil {
		return nil, err
	}
	if out.Attributes == nil {
		out.Attributes = map[string]string{}
	}
	out.Attributes[redriveAllow] = policy
	r.body, err = json.Marshal(out)
	return r, err
}
