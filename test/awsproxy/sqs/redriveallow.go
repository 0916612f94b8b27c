package sqs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// redriveAllow is the attribute that moto accepts and does not store.
const redriveAllow = "RedriveAllowPolicy"

// remember stores the attribute of a queue that was created or changed with it; an empty value removes it.
func (s *Service) remember(x *wire.Exchange, queue string, r *wire.Reply) {
	given, _ := x.JSON["Attributes"].(map[string]any)
	policy, ok := given[redriveAllow].(string)
	if !ok || r.Status != http.StatusOK {
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
func (s *Service) keptOut(x *wire.Exchange, queueARN string) *wire.Reply {
	given, _ := x.JSON["Attributes"].(map[string]any)
	text, _ := given["RedrivePolicy"].(string)
	var redrive struct{ DeadLetterTargetArn string }
	if text == "" || json.Unmarshal([]byte(text), &redrive) != nil {
		return nil
	}
	to := wire.SplitARN(redrive.DeadLetterTargetArn)
	s.mu.Lock()
	policy, ok := s.allow[to.Account+"/"+to.Region+"/"+to.Resource]
	s.mu.Unlock()
	var allow struct {
		RedrivePermission string
		SourceQueueArns   []string
	}
	if !ok || json.Unmarshal([]byte(policy), &allow) != nil || allow.RedrivePermission == "allowAll" ||
		allow.RedrivePermission == "byQueue" && slices.Contains(allow.SourceQueueArns, queueARN) {
		return nil
	}
	return x.Fail(http.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf(
		"Value %s for parameter RedrivePolicy is invalid. Reason: Dead letter target does not allow this source queue.",
		text)).
		QueryCode(x, "InvalidParameterValue")
}

// deadLetters turns moto's error about a missing dead-letter queue, which names the queue itself, into SQS's.
func deadLetters(x *wire.Exchange) func(*wire.Reply, error) (*wire.Reply, error) {
	return func(r *wire.Reply, err error) (*wire.Reply, error) {
		if err != nil || r.Status != http.StatusBadRequest || !bytes.Contains(r.Body, []byte("Could not find DLQ")) {
			return r, err
		}
		given, _ := x.JSON["Attributes"].(map[string]any)
		return x.Fail(http.StatusBadRequest, "InvalidParameterValue", fmt.Sprintf(
			"Value %v for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.",
			given["RedrivePolicy"])).
			QueryCode(x, "InvalidParameterValue"), nil
	}
}

// attributes adds to GetQueueAttributes the attribute that moto does not store.
func (s *Service) attributes(ctx context.Context, queue string, next wire.Forward) (*wire.Reply, error) {
	r, err := next(ctx)
	s.mu.Lock()
	policy, ok := s.allow[queue]
	s.mu.Unlock()
	if err != nil || r.Status != http.StatusOK || !ok {
		return r, err
	}
	var out struct{ Attributes map[string]string }
	if err := json.Unmarshal(r.Body, &out); err != nil {
		return nil, err
	}
	if out.Attributes == nil {
		out.Attributes = map[string]string{}
	}
	out.Attributes[redriveAllow] = policy
	r.Body, err = json.Marshal(out)
	return r, err
}
