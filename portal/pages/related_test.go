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
	if page = visit(t, f, developer, dead).Body.String(); !strings.Contains(page, "Dead letter queue of") ||
		!strings.Contains(page, `href="`+orders+`"`) {
		t.Error("the page of the dead-letter queue does not lead to the queue that uses it")
	}
}

func TestBoundResourcesAreShownOnBothPages(t *testing.T) {
	const shop, dead = "/teams/payments/webapps/shop", "/teams/payments/sqsqueues/dead"
	f := newFake(t, shopApp, deadQueue, provider)
	page := visit(t, f, developer, shop).Body.String()
	if !strings.Contains(page, "Uses") || !strings.Contains(page, `href="`+dead+`"`) ||
		strings.Count(page, "is not there") != 2 {
		t.Errorf("the page of the application does not show what it is bound to:\n%s", page)
	}
	page = visit(t, f, developer, dead).Body.String()
	if !strings.Contains(page, "Used by") || strings.Count(page, `href="`+shop+`"`) != 1 {
		t.Errorf("the page of the queue does not show the application once:\n%s", page)
	}
}

func TestDeletingTellsWhoUsesIt(t *testing.T) {
	for _, c := range []struct {
		name, path, words string
		want              bool
	}{
		{"an application bound to a queue", "sqsqueues/dead", "take it out of shop first.", true},
		{"a queue whose dead-letter queue it is", "sqsqueues/dead", "take it out of orders first.", true},
		{"nobody", "sqsqueues/orders", "take it out of", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := visit(t, newFake(t, shopApp, ordersQueue, deadQueue, provider), developer, "/teams/payments/"+
				c.path+"/delete")
			if got := strings.Contains(page.Body.String(), c.words); page.Code != 200 || got != c.want {
				t.Errorf("%d, %v, want %v:\n%s", page.Code, got, c.want, page.Body)
			}
		})
	}
}
