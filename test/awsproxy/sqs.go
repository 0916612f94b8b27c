package awsproxy

import (
	"context"
	"encoding/json"
	"net/http"
)

// sqsService keeps the tags of a queue that is created once more, which moto
// replaces. That other attributes are refused, moto does.
type sqsService struct {
	upstream *upstream
	locks    locks
}

func newSQS(up *upstream) *sqsService { return &sqsService{upstream: up} }

func (s *sqsService) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	if x.call.Operation != "CreateQueue" || x.json == nil {
		return next(ctx)
	}
	defer s.locks.lock(x.call.Account+"/"+x.call.Region+"/"+x.call.Resource, true)()
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
		service: "sqs", region: x.call.Region, account: x.call.Account, method: http.MethodPost, path: "/",
		header: map[string]string{"X-Amz-Target": "AmazonSQS.GetQueueUrl", "Content-Type": "application/x-amz-json-1.0"},
		body:   string(body),
	})
	if err != nil {
		return false, err
	}
	return r.status == http.StatusOK, nil
}
