package sqs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/attributes"
	"github.com/portico-platform/portico/controllers/aws/senders"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// Resolve finds the queues and senders that the spec names.
func (q *queue) Resolve(ctx context.Context, obj *v1alpha1.SQSQueue) error {
	return cmp.Or(q.resolveDeadLetters(ctx, obj), q.resolveSources(ctx, obj), q.resolveSenders(ctx, obj))
}

// resolveSenders finds the senders in allowFrom.
func (q *queue) resolveSenders(ctx context.Context, obj *v1alpha1.SQSQueue) (err error) {
	q.senders, err = senders.Resolve(ctx, q.kube, q.Session, obj.Namespace, obj.Spec.AllowFrom)
	return err
}

// resolveSources finds the queues of the namespace that can use this one as their dead-letter queue. Their ARNs follow
// from their names: a queue must be allowed before it can be created.
func (q *queue) resolveSources(ctx context.Context, obj *v1alpha1.SQSQueue) error {
	if obj.Spec.RedriveAllowPolicy == nil {
		return nil
	}
	for _, ref := range obj.Spec.RedriveAllowPolicy.SourceQueueRefs {
		source := &v1alpha1.SQSQueue{}
		there, err := engine.Find(ctx, q.kube.Reader, client.ObjectKey{Namespace: obj.Namespace, Name: ref.Name},
			source)
		if err != nil {
			return err
		}
		switch {
		case there && source.Status.ARN != "":
			q.redrives = append(q.redrives, source.Status.ARN)
		case there: // in this account and region: SQS takes no others
			q.redrives = append(q.redrives, q.arn(source))
		}
	}
	return nil
}

// resolveDeadLetters finds the dead-letter queue. Once that has been Ready its ARN is used, whatever happens to it: a
// problem with the dead-letter queue does not block a working queue.
func (q *queue) resolveDeadLetters(ctx context.Context, obj *v1alpha1.SQSQueue) error {
	dlq := obj.Spec.DeadLetterQueue
	switch {
	case dlq == nil:
		return nil
	case dlq.TargetRef == nil:
		q.target = dlq.TargetARN
	default:
		arn, err := q.resolveTarget(ctx, obj, dlq.TargetRef.Name)
		if wait, ok := engine.AsWait(err); ok && !wait.Stalled && obj.Status.DeadLetterTargetARN != "" {
			arn, q.Rest = obj.Status.DeadLetterTargetARN, err // it existed: the rest of the queue is not blocked
		} else if err != nil {
			return err
		}
		q.target = arn
	}
	if strings.HasSuffix(q.target, attributes.FIFOSuffix) != obj.Spec.FIFOQueue {
		return engine.Blocked(v1alpha1.ReasonDeadLetterQueueMismatch, "the dead-letter queue of a FIFO queue must be "+
			"a FIFO queue, and of a standard queue a standard one; choose another dead-letter queue")
	}
	return nil
}

// Refs are the references of queues in their namespace: the dead-letter queues that they wait for, and those that they
// let in.
var Refs = []watch.Ref{
	watch.LocalRef{From: &v1alpha1.SQSQueue{}, To: &v1alpha1.SQSQueue{}, When: ReadyChanged()},
	watch.AdmittedRef{From: &v1alpha1.SQSQueue{}, To: &v1alpha1.SQSQueue{}, When: senders.ARNChanged()},
	watch.AdmittedRef{From: &v1alpha1.SQSQueue{}, To: &v1alpha1.SNSTopic{}, When: senders.ARNChanged()},
	watch.AdmittedRef{From: &v1alpha1.SQSQueue{}, To: &v1alpha1.S3Bucket{}, When: senders.ARNChanged()},
}

var deadLetterLookup = Lookup{
	Field: "spec.deadLetterQueue", Queue: "dead-letter queue", This: "this queue",
	Alternative: ", or name its targetArn",
	Waiting:     v1alpha1.ReasonWaitingForDeadLetterQueue, Mismatch: v1alpha1.ReasonDeadLetterQueueMismatch,
}

// resolveTarget returns the ARN of the SQSQueue of this name in obj's namespace.
func (q *queue) resolveTarget(ctx context.Context, obj *v1alpha1.SQSQueue, name string) (string, error) {
	if name == obj.Name {
		return "", engine.Blocked(v1alpha1.ReasonDeadLetterQueueMismatch,
			"a queue cannot be its own dead-letter queue; choose another one")
	}
	target, err := deadLetterLookup.Get(ctx, q.kube, obj.Namespace, name)
	if err != nil {
		return "", err
	}
	arn, err := deadLetterLookup.ARN(q.Session, target)
	if wait, waits := engine.AsWait(err); waits && !wait.Stalled {
		return "", cmp.Or(q.circle(ctx, obj, target), err)
	}
	if err == nil && arn != obj.Status.DeadLetterTargetARN {
		err = q.takenFrom(obj, target)
	}
	return arn, err
}

// takenFrom returns an error if the dead-letter queue does not accept the messages of obj's queue: SQS does not move
// them there then.
func (q *queue) takenFrom(obj, target *v1alpha1.SQSQueue) error {
	policy, mine := target.Spec.RedriveAllowPolicy, q.arn(obj)
	switch {
	case policy == nil || policy.RedrivePermission == "allowAll" || slices.Contains(target.Status.AllowedSources, mine):
		return nil
	case slices.ContainsFunc(policy.SourceQueueRefs, func(r v1alpha1.LocalRef) bool { return r.Name == obj.Name }),
		slices.Contains(policy.SourceQueueARNs, mine):
		return engine.Wait(v1alpha1.ReasonWaitingForDeadLetterQueue, time.Minute,
			"the dead-letter queue %s does not take this queue's messages yet", target.Name)
	}
	return engine.Blocked(v1alpha1.ReasonDeadLetterQueueMismatch,
		"the redriveAllowPolicy of the queue %s keeps this queue out. Add this queue to its "+
			"spec.redriveAllowPolicy.sourceQueueRefs, with redrivePermission byQueue, or choose another dead-letter "+
			"queue", target.Name)
}

// mostInChain is the maximum length of a chain of dead-letter queues that is followed.
const mostInChain = 100

// circle returns an error if a queue that is waited for waits for itself or for obj, directly or through others: that
// does not end by itself.
func (q *queue) circle(ctx context.Context, obj, next *v1alpha1.SQSQueue) error {
	chain := []string{obj.Name}
	for len(chain) < mostInChain {
		chain = append(chain, next.Name)
		refs := next.References()
		if len(refs) == 0 {
			return nil
		}
		if slices.Contains(chain, refs[0].Name) {
			return engine.Blocked(v1alpha1.ReasonDeadLetterQueueMismatch,
				"the dead-letter queues wait for each other in a circle: %s. Take spec.deadLetterQueue out of one of "+
					"them, or name another queue there", strings.Join(append(chain, refs[0].Name), " → "))
		}
		found := &v1alpha1.SQSQueue{}
		if there, err := engine.Find(ctx, q.kube.Reader, client.ObjectKey{Namespace: obj.Namespace, Name: refs[0].Name},
			found); !there {
			return err
		}
		next = found
	}
	return nil
}

func redriveText(target string, dlq *v1alpha1.SQSDeadLetterQueue) string {
	if dlq == nil {
		return ""
	}
	return fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, target, dlq.MaxReceiveCount)
}

// redrive is a redrive policy in SQS's form: others may write the count as a string, or the members in another order.
type redrive struct {
	Target string          `json:"deadLetterTargetArn"`
	Count  json.RawMessage `json:"maxReceiveCount"`
}

// targetOf returns the dead-letter queue in a redrive policy; empty if the text is none.
func targetOf(policy string) string {
	var p redrive
	_ = json.Unmarshal([]byte(policy), &p)
	return p.Target
}

// normalRedrive returns a redrive policy in redriveText's form. Any other text is returned unchanged, and differs.
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
	a.Sources = slices.Compact(a.Sources)
	return external.JSON(a)
}

// allowPolicy returns the redrive allow policy. While none of the queues in it exists it denies all, because SQS
// accepts no empty list.
func (q *queue) allowPolicy(obj *v1alpha1.SQSQueue) (string, bool) {
	policy := obj.Spec.RedriveAllowPolicy
	if policy == nil {
		return "", false
	}
	a := allow{policy.RedrivePermission, slices.Concat(policy.SourceQueueARNs, q.redrives)}
	if policy.RedrivePermission == "byQueue" && len(a.Sources) == 0 {
		a.Permission = "denyAll"
	}
	return a.text(), true
}

func normalAllow(policy string) string {
	if a := parseAllow(policy); a.Permission != "" {
		return a.text()
	}
	return policy
}

// parseAllow parses a redrive allow policy; the result is empty if the text is none.
func parseAllow(policy string) (a allow) {
	if json.Unmarshal([]byte(policy), &a) != nil {
		return allow{}
	}
	return a
}
