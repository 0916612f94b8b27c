package sqs

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// retention is the attribute whose changes take longest to show.
const retention = "MessageRetentionPeriod"

// DelayQueueAttributes makes GetQueueAttributes return the former values to the operator, for most after a
// SetQueueAttributes, and for longest for the MessageRetentionPeriod: AWS's reference of SetQueueAttributes says up
// to 60 seconds, and up to 15 minutes. Zeros end it.
func (s *Service) DelayQueueAttributes(most, longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delays = [2]time.Duration{most, longest}
	s.delayed = map[string]map[string]delayedAttribute{}
}

// delayedAttribute is the former value of an attribute, and until when it is shown.
type delayedAttribute struct {
	was   string
	until time.Time
}

// delay records the former values of the attributes of a SetQueueAttributes.
func (s *Service) delay(ctx context.Context, x *wire.Exchange, queue string) error {
	given, _ := x.JSON["Attributes"].(map[string]any)
	s.mu.Lock()
	delays := s.delays
	s.mu.Unlock()
	if delays == [2]time.Duration{} || x.Call.Actor != wire.Operator {
		return nil
	}
	body, err := json.Marshal(map[string]any{"QueueUrl": x.JSON["QueueUrl"], "AttributeNames": []string{"All"}})
	if err != nil {
		return err
	}
	r, err := s.upstream.Ask(ctx, wire.Question{
		Service: "sqs", Region: x.Call.Region, Account: x.Account(), Method: http.MethodPost, Path: "/",
		Header: map[string]string{
			"X-Amz-Target": "AmazonSQS.GetQueueAttributes",
			"Content-Type": "application/x-amz-json-1.0",
		}, Body: string(body),
	})
	if err != nil || r.Status != http.StatusOK {
		return err
	}
	var now struct{ Attributes map[string]string }
	if err := json.Unmarshal(r.Body, &now); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.delayed[queue] == nil {
		s.delayed[queue] = map[string]delayedAttribute{}
	}
	for name := range given {
		wait := delays[0]
		if name == retention {
			wait = delays[1]
		}
		was := now.Attributes[name]
		if before, ok := s.delayed[queue][name]; ok && s.now().Before(before.until) {
			was = before.was
		}
		s.delayed[queue][name] = delayedAttribute{was: was, until: s.now().Add(wait)}
	}
	return nil
}

// outdated replaces the values of attributes with the former ones. An attribute that was not set is left out.
func (s *Service) outdated(x *wire.Exchange, queue string, r *wire.Reply) error {
	s.mu.Lock()
	old := maps.Clone(s.delayed[queue])
	s.mu.Unlock()
	if len(old) == 0 || x.Call.Actor != wire.Operator || r.Status != http.StatusOK {
		return nil
	}
	var out struct{ Attributes map[string]string }
	if err := json.Unmarshal(r.Body, &out); err != nil {
		return err
	}
	for name, before := range old {
		switch _, listed := out.Attributes[name]; {
		case !s.now().Before(before.until):
		case before.was == "":
			delete(out.Attributes, name)
		case listed:
			out.Attributes[name] = before.was
		}
	}
	var err error
	r.Body, err = json.Marshal(out)
	return err
}
