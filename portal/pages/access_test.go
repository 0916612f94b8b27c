package pages

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// boundSite returns a cluster with an application that is bound to a queue and a database; its condition about rights
// in AWS has this status, reason and message.
func boundSite(tb testing.TB, status, reason, message string) *fakeCluster {
	tb.Helper()
	f := newFake(tb, shop, ordersQueue)
	app := f.objects[0].Object
	bindings := []any{
		map[string]any{"kind": "SQSQueue", "name": "orders", "access": "Read"},
		map[string]any{"kind": "RDSInstance", "name": "ledger"},
	}
	_ = unstructured.SetNestedSlice(app, bindings, "spec", "bindings")
	_ = unstructured.SetNestedField(app, `{"Statement":[{"Action":["sqs:ReceiveMessage"]}]}`, "status", "accessPolicy")
	given := []any{
		map[string]any{
			"kind": "SQSQueue", "name": "orders", "secret": "orders-sqsqueue-binding",
			"variables": []any{"ORDERS_ARN", "ORDERS_URL"},
		},
		map[string]any{
			"kind": "RDSInstance", "name": "ledger", "secret": "ledger-rdsinstance-binding",
			"folder": "/bindings/ledger", "user": "Master",
		},
	}
	_ = unstructured.SetNestedSlice(app, given, "status", "bindings")
	conditions, _, _ := unstructured.NestedSlice(app, "status", "conditions")
	conditions = append(conditions, map[string]any{
		"type": "AWSAccess", "status": status, "reason": reason,
		"message": message, "lastTransitionTime": "2026-11-21T11:50:00Z",
	})
	_ = unstructured.SetNestedSlice(app, conditions, "status", "conditions")
	return f
}

func TestThePageOfAnApplicationSaysWhatItMayDoInAWS(t *testing.T) {
	for word, of := range map[string][3]string{
		"Not granted": {"False", "NoIdentity", "the application has no rights in AWS yet"},
		"Not known":   {"Unknown", "RoleNotChecked", "the application acts in AWS as a role"},
		"Granted":     {"True", "Granted", "the application has its rights"},
	} {
		html := visit(t, boundSite(t, of[0], of[1], of[2]), developer, atShop).Body.String()
		for _, part := range []string{
			"Rights in AWS", word, strings.ToUpper(of[2][:1]) + of[2][1:] + ".",
			"<dd>To receive and delete its messages.</dd>", "As an IAM policy",
			"<code>ORDERS_ARN</code>", "<code>ORDERS_URL</code>", "files in <code>/bindings/ledger</code>",
			"The values are in the Secret orders-sqsqueue-binding.",
			"&#34;sqs:ReceiveMessage&#34;\n", `<small class="why">To receive and delete its messages</small>`,
		} {
			if !strings.Contains(html, part) {
				t.Errorf("%s: the page lacks %q", word, part)
			}
		}
		if strings.Contains(html, "AWS access</") {
			t.Errorf("%s: it is a step, too", word)
		}
	}
	if html := visit(t, shopSite(t), developer, atShop).Body.String(); strings.Contains(html, "Rights in AWS") {
		t.Error("an application without bindings has a card of its rights")
	}
}

func TestThePageOfAnApplicationSaysWhomItSignsInAs(t *testing.T) {
	for want, of := range map[string][2]string{ // users of the binding and of the Pods
		"signs in as the database&#39;s master user, who can do everything in it":            {"", "Master"},
		"signs in as a user of its own, which may read.":                                     {"Own", "Own"},
		"still signs in as a user of its own, which its bindings do not ask for any more":    {"Master", "Own"},
		"master user, who can do everything in it. With user: Own in the binding it gets a ": {"Own", "Master"},
	} {
		f := boundSite(t, "True", "Granted", "the application has its rights")
		app := f.objects[0].Object
		for list, user := range map[string]string{"spec": of[0], "status": of[1]} {
			all, _, _ := unstructured.NestedSlice(app, list, "bindings")
			ledger := all[1].(map[string]any)
			if delete(ledger, "user"); user != "" {
				ledger["user"] = user
			}
			if user == "Own" && list == "spec" {
				ledger["access"] = "Read"
			}
			_ = unstructured.SetNestedSlice(app, all, list, "bindings")
		}
		if html := visit(t, f, developer, atShop).Body.String(); !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestThePageOfAResourceSaysWhoMayUseItAndHow(t *testing.T) {
	html := visit(t, boundSite(t, "False", "NoIdentity", "none"), developer,
		"/teams/payments/sqsqueues/orders").Body.String()
	if !strings.Contains(html, `<small class="why">To receive and delete its messages</small>`) {
		t.Error("the queue's page does not say what the application may do with it")
	}
}
