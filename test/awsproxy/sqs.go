package awsproxy

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// queueNameWait is how long the name of a deleted queue is unavailable, by the reference of CreateQueue.
const queueNameWait = time.Minute

// sqsService keeps the tags of a queue when it is created again, which moto replaces; its RedriveAllowPolicy, which
// moto does not store or enforce; the name of a deleted queue for a while; and SQS's error for a missing dead-letter
// queue. Moto itself refuses a creation with other attributes.
type sqsService struct {
	upstream *upstream
	locks    locks // by queue
	lag      *lag
	now      func() time.Time

	mu      sync.Mutex
	deleted map[string]time.Time                   // by queue
	allow   map[string]string                      // RedriveAllowPolicy by queue
	dropped []string                               // see DropQueueAttributes
	delays  [2]time.Duration                       // see DelayQueueAttributes
	delayed map[string]map[string]delayedAttribute // by queue and name
}

func newSQS(up *upstream, lag *lag, now func() time.Time) *sqsService {
	return &sqsService{upstream: up, lag: lag, now: now, deleted: map[string]time.Time{}, allow: map[string]string{}}
}

func (s *sqsService) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	if refused := refuseSQS(x); refused != nil {
		return refused, nil
	}
	if x.call.Operation == "CreateQueue" || x.call.Operation == "SetQueueAttributes" {
		arn := x.resourceARN("sqs", x.call.Resource)
		if refusal := cmp.Or(refuseQueuePolicy(x, arn), s.keptOut(x, arn)); refusal != nil {
			return refusal, nil
		}
	}
	return s.serve(ctx, x, next)
}

func (s *sqsService) serve(ctx context.Context, x *exchange, next forward) (*reply, error) {
	queue := x.account() + "/" + x.call.Region + "/" + x.call.Resource
	switch x.call.Operation {
	case "CreateQueue":
		defer s.locks.lock(queue, true)()
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
		defer s.locks.lock(queue, true)()
		r, err := next(ctx)
		if err == nil && r.status == http.StatusOK {
			s.mu.Lock()
			s.deleted[queue] = s.now()
			delete(s.allow, queue)
			s.mu.Unlock()
		}
		return r, err
	}
	return next(ctx)
}

func (s *sqsService) create(ctx context.Context, x *exchange, queue string, next forward) (*reply, error) {
	s.mu.Lock()
	deleted, was := s.deleted[queue]
	s.mu.Unlock()
	if was && s.now().Sub(deleted) < s.lag.scaled(queueNameWait) {
		return x.fail(http.StatusBadRequest, "QueueDeletedRecently",
			"You must wait 60 seconds after deleting a queue before you can create another with the same name.").
			queryCode(x, "AWS.SimpleQueueService.QueueDeletedRecently"), nil
	}
	exists, err := s.exists(ctx, x)
	if err != nil {
		return nil, err
	}
	if exists {
		delete(x.json, "tags")
		if x.body, err = json.Marshal(x.json); err != nil {
			return nil, err
		}
	}
	return next(ctx)
}

func (s *sqsService) exists(ctx context.Context, x *exchange) (bool, error) {
	body, err := json.Marshal(map[string]string{"QueueName": x.call.Resource})
	if err != nil {
		return false, err
	}
	r, err := s.upstream.ask(ctx, question{
		service: "sqs", region: x.call.Region, account: x.account(), method: http.MethodPost, path: "/",
		header: map[string]string{
			"X-Amz-Target": "AmazonSQS.GetQueueUrl",
			"Content-Type": "application/x-amz-json-1.0",
		},
		body: string(body),
	})
	if err != nil {
		return false, err
	}
	return r.status == http.StatusOK, nil
}
