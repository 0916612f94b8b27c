package sqs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/attributes"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// Resolve finds the dead-letter queue. Once that queue has been Ready its ARN stands, whatever becomes of it: a queue
// that works is not held up by trouble with its dead letters.
func (q *queue) Resolve(ctx context.Context, obj *v1alpha1.SQSQueue) error {
	dlq := obj.Spec.DeadLetterQueue
	switch {
	case dlq == nil:
		return nil
	case dlq.TargetRef == nil:
		q.target = dlq.TargetARN
	default:
		arn, err := q.resolveTarget(ctx, obj, dlq.TargetRef.Name)
		if wait, ok := engine.AsWait(err); ok && !wait.Stalled && obj.Status.DeadLetterTargetARN != "" {
			arn, q.Rest = obj.Status.DeadLetterTargetARN, err // it was there: the rest of the queue is not held up
		} else if err != nil {
			return err
		}
		q.target = arn
	}
	if strings.HasSuffix(q.target, attributes.FIFOSuffix) != obj.Spec.FIFOQueue {
		return engine.Blocked(v1alpha1.ReasonDeadLetterQueueMismatch, "the dead-letter queue of a FIFO queue must be a FIFO queue, and of a standard queue a standard one; choose another dead-letter queue")
	}
	return nil
}

// DeadLetterRefs are the queues that queues of their namespace name, and wait for.
var DeadLetterRefs = watch.LocalRef{From: &v1alpha1.SQSQueue{}, To: &v1alpha1.SQSQueue{}, When: ReadyChanged()}

var deadLetterLookup = Lookup{
	Field: "spec.deadLetterQueue", Queue: "dead-letter queue", This: "this queue", Alternative: ", or name its targetArn",
	Waiting: v1alpha1.ReasonWaitingForDeadLetterQueue, Mismatch: v1alpha1.ReasonDeadLetterQueueMismatch,
}

// resolveTarget returns the ARN of the SQSQueue of this name in obj's namespace.
func (q *queue) resolveTarget(ctx context.Context, obj *v1alpha1.SQSQueue, name string) (string, error) {
	if name == obj.Name {
		return "", engine.Blocked(v1alpha1.ReasonDeadLetterQueueMismatch, "a queue cannot be its own dead-letter queue; choose another one")
	}
	target, err := deadLetterLookup.Get(ctx, q.kube, obj.Namespace, name)
	if err != nil {
		return "", err
	}
	return deadLetterLookup.ARN(q.Session, target)
}

func redriveText(target string, dlq *v1alpha1.SQSDeadLetterQueue) string {
	if dlq == nil {
		return ""
	}
	return fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, target, dlq.MaxReceiveCount)
}

// redrive is a policy as SQS has it: others write the count as a string, or the members in another order.
type redrive struct {
	Target string          `json:"deadLetterTargetArn"`
	Count  json.RawMessage `json:"maxReceiveCount"`
}

// targetOf returns the dead-letter queue that a policy names; empty, if it is none.
func targetOf(policy string) string {
	var p redrive
	_ = json.Unmarshal([]byte(policy), &p)
	return p.Target
}

// normalRedrive brings a policy into redriveText's form. What is no such policy stays as it is, and differs.
func normalRedrive(policy string) string {
	var p redrive
	err := json.Unmarshal([]byte(policy), &p)
	count, failed := strconv.ParseInt(strings.Trim(string(p.Count), `"`), 10, 32)
	if err != nil || failed != nil {
		return policy
	}
	return redriveText(p.Target, &v1alpha1.SQSDeadLetterQueue{MaxReceiveCount: int32(count)})
}

// allow is a redrive allow policy with its members in SQS's spelling.
type allow struct {
	Permission string   `json:"redrivePermission"`
	Sources    []string `json:"sourceQueueArns,omitempty"`
}

func (a allow) text() string {
	a.Sources = slices.Clone(a.Sources)
	slices.Sort(a.Sources)
	return external.JSON(a)
}

func allowPolicy(q *v1alpha1.SQSQueue) (string, bool) {
	policy := q.Spec.RedriveAllowPolicy
	if policy == nil {
		return "", false
	}
	return allow{policy.RedrivePermission, policy.SourceQueueARNs}.text(), true
}

func normalAllow(policy string) string {
	var a allow
	if json.Unmarshal([]byte(policy), &a) != nil {
		return policy
	}
	return a.text()
}
