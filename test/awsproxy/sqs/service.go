// Package sqs is Amazon SQS: queues, their attributes and policies.
package sqs

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/lag"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// queueNameWait is how long the name of a deleted queue is unavailable, by the reference of CreateQueue.
const queueNameWait = time.Minute

// Service keeps the tags of a queue when it is created again, which moto replaces; its RedriveAllowPolicy, which
// moto does not store or enforce; the name of a deleted queue for a while; and SQS's error for a missing dead-letter
// queue. Moto itself refuses a creation with other attributes.
type Service struct {
	upstream *wire.Upstream
	locks    wire.Locks // by queue
	lag      *lag.Lag
	now      func() time.Time

	mu      sync.Mutex
	deleted map[string]time.Time                   // by queue
	allow   map[string]string                      // RedriveAllowPolicy by queue
	dropped []string                               // see DropQueueAttributes
	delays  [2]time.Duration                       // see DelayQueueAttributes
	delayed map[string]map[string]delayedAttribute // by queue and name
}

// New returns SQS.
func New(up *wire.Upstream, lag *lag.Lag, now func() time.Time) *Service {
	return &Service{upstream: up, lag: lag, now: now, deleted: map[string]time.Time{}, allow: map[string]string{}}
}

// Around serves the calls to SQS.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	if refused := refuse(x); refused != nil {
		return refused, nil
	}
	if x.Call.Operation == "CreateQueue" || x.Call.Operation == "SetQueueAttributes" {
		arn := x.ResourceARN("sqs", x.Call.Resource)
		if refusal := cmp.Or(refuseQueuePolicy(x, arn), s.keptOut(x, arn)); refusal != nil {
			return refusal, nil
		}
	}
	return s.serve(ctx, x, next)
}

func (s *Service) serve(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	queue := x.Account() + "/" + x.Call.Region + "/" + x.Call.Resource
	switch x.Call.Operation {
	case "CreateQueue":
		defer s.locks.Lock(queue, true)()
		r, err := deadLetters(x)(s.create(ctx, x, queue, next))
		if err == nil {
			s.remember(x, queue, r)
		}
		return r, err
	case "SetQueueAttributes":
		if err := s.drop(x); err != nil {
			return nil, err
		}
		if err := s.delay(ctx, x, queue); err != nil {
			return nil, err
		}
		r, err := deadLetters(x)(next(ctx))
		if err == nil {
			s.remember(x, queue, r)
		}
		return r, err
	case "GetQueueAttributes":
		r, err := s.attributes(ctx, queue, next)
		if err == nil {
			err = s.outdated(x, queue, r)
		}
		return r, err
	case "DeleteQueue":
		defer s.locks.Lock(queue, true)()
		r, err := next(ctx)
		if err == nil && r.Status == http.StatusOK {
			s.mu.Lock()
			s.deleted[queue] = s.now()
			delete(s.allow, queue)
			s.mu.Unlock()
		}
		return r, err
	}
	return next(ctx)
}

func (s *Service) create(ctx context.Context, x *wire.Exchange, queue string, next wire.Forward) (*wire.Reply, error) {
	s.mu.Lock()
	deleted, was := s.deleted[queue]
	s.mu.Unlock()
	if was && s.now().Sub(deleted) < s.lag.Scaled(queueNameWait) {
		return x.Fail(http.StatusBadRequest, "QueueDeletedRecently",
			"You must wait 60 seconds after deleting a queue before you can create another with the same name.").
			QueryCode(x, "AWS.SimpleQueueService.QueueDeletedRecently"), nil
	}
	exists, err := s.exists(ctx, x)
	if err != nil {
		return nil, err
	}
	if exists {
		delete(x.JSON, "tags")
		if x.Body, err = json.Marshal(x.JSON); err != nil {
			return nil, err
		}
	}
	return next(ctx)
}

func (s *Service) exists(ctx context.Context, x *wire.Exchange) (bool, error) {
	body, err := json.Marshal(map[string]string{"QueueName": x.Call.Resource})
	if err != nil {
		return false, err
	}
	r, err := s.upstream.Ask(ctx, wire.Question{
		Service: "sqs", Region: x.Call.Region, Account: x.Account(), Method: http.MethodPost, Path: "/",
		Header: map[string]string{
			"X-Amz-Target": "AmazonSQS.GetQueueUrl",
			"Content-Type": "application/x-amz-json-1.0",
		},
		Body: string(body),
	})
	if err != nil {
		return false, err
	}
	return r.Status == http.StatusOK, nil
}
