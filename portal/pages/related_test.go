package pages

import (
	"strings"
	"testing"
)

const (
	ordersQueue = `
apiVersion: portico.dev/v1alpha1
kind: SQSQueue
metadata: {name: orders, namespace: payments, generation: 1, creationTimestamp: "2026-11-21T11:57:00Z"}
spec: {providerRef: {name: aws-prod}, deadLetterQueue: {targetRef: {name: dead}, maxReceiveCount: 5}}
status: {observedGeneration: 1, conditions: [{type: Ready, status: "Unknown", reason: WaitingForDeadLetterQueue, message: there is no SQSQueue dead in this namespace yet}]}
`
	deadQueue = `
apiVersion: portico.dev/v1alpha1
kind: SQSQueue
metadata: {name: dead, namespace: payments, generation: 1, creationTimestamp: "2026-11-21T11:57:00Z"}
spec: {providerRef: {name: aws-prod}}
status: {observedGeneration: 1, conditions: [{type: Ready, status: "True", reason: InSync, message: everything is as the spec asks}]}
`
)

func TestRelatedQueuesAreShownOnBothPages(t *testing.T) {
	const orders, dead = "/teams/payments/sqsqueues/orders", "/teams/payments/sqsqueues/dead"
	f := newFake(t, ordersQueue, provider)
	page := visit(t, f, developer, orders).Body.String()
	if !strings.Contains(page, "Dead letter queue") || !strings.Contains(page, "is not there") {
		t.Error("a queue that is missing is not shown as missing")
	}
	f = newFake(t, ordersQueue, deadQueue, provider)
	if page = visit(t, f, developer, orders).Body.String(); !strings.Contains(page, `href="`+dead+`"`) {
		t.Error("the page of the queue does not lead to its dead-letter queue")
	}
	if page = visit(t, f, developer, dead).Body.String(); !strings.Contains(page, "Dead letter queue of") || !strings.Contains(page, `href="`+orders+`"`) {
		t.Error("the page of the dead-letter queue does not lead to the queue that uses it")
	}
}
