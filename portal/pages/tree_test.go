package pages

import (
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const lostBucket = `
apiVersion: portico.dev/v1alpha1
kind: S3Bucket
metadata: {name: lost, namespace: payments, generation: 3, creationTimestamp: "2026-11-20T12:00:00Z"}
spec: {providerRef: {name: aws-prod}}
status: {observedGeneration: 3, recreations: 1, arn: "arn:aws:s3:::lost", conditions: [
  {type: Ready, status: "False", reason: ExternallyDeleted, message: "was deleted outside Portico; set the annotation portico.dev/acknowledge-recreate=2", lastTransitionTime: "2026-11-21T11:00:00Z"},
  {type: Stalled, status: "True", reason: ExternallyDeleted, message: "was deleted outside Portico; set the annotation portico.dev/acknowledge-recreate=2", lastTransitionTime: "2026-11-21T11:00:00Z"},
  {type: Reconciling, status: "False", reason: Stalled, message: "", lastTransitionTime: "2026-11-21T10:00:00Z"}]}
`

func TestTheTreeShowsWhatWasMadeAndWhatIsBound(t *testing.T) {
	f := shopSite(t)
	if err := unstructured.SetNestedSlice(f.objects[0].Object,
		[]any{map[string]any{"kind": "SQSQueue", "name": "orders"}}, "spec", "bindings"); err != nil {
		t.Fatal(err)
	}
	conditions, _, _ := unstructured.NestedSlice(f.objects[0].Object, "status", "conditions")
	conditions = append(conditions, map[string]any{"type": "DeploymentReady", "status": "True"},
		map[string]any{"type": "ServiceReady", "status": "False", "message": "its port is taken"})
	_ = unstructured.SetNestedSlice(f.objects[0].Object, conditions, "status", "conditions")
	f.objects = append(f.objects, object(t, ordersQueue), object(t, deadQueue))
	page := visit(t, f, developer, "/teams/payments/webapps/shop?tab=objects").Body.String()
	if lacks(t, page, "Pods"); strings.Contains(page, "ReplicaSet") {
		t.Error("Pods that nothing keeps are shown beneath a ReplicaSet")
	}
	for _, pod := range f.pods {
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "shop-7f8", Controller: new(true)}}
	}
	page = visit(t, f, developer, "/teams/payments/webapps/shop?tab=objects").Body.String()
	lacks(t, page, "Deployment", "ReplicaSet", "1 of 2 ready", "/pods/shop-7f8-b", "Its port is taken.", "Uses:",
		`href="/teams/payments/sqsqueues/orders"`,
		`href="/teams/payments/sqsqueues/dead"`, "Dead letter queue:")
	f.denied = []string{"list pods payments", "get sqsqueues payments"}
	page = visit(t, f, developer, "/teams/payments/webapps/shop?tab=objects").Body.String()
	if strings.Contains(page, "ReplicaSet") || strings.Contains(page, `/sqsqueues/orders"`) {
		t.Error("who may not list Pods, or look at queues, sees them")
	}
	lacks(t, page, "You are not allowed to list Pods here.", "<code>orders</code>", "You are not allowed to see it.")
	lacks(t, visit(t, busySite(t), developer, atInvoices+"?tab=objects").Body.String(), "In AWS",
		"arn:aws:s3:::payments-invoices-7f3a91c2", "Secret", "invoices-connection")
	lacks(t, visit(t, hostnameSite(t), developer, atHostnames+"pay?tab=objects").Body.String(), "Claim", "dc-77",
		"Certificate", "AWS has not issued the certificate yet")
}

func TestConditionsStandInTheOrderInWhichTheyTurned(t *testing.T) {
	page := visit(t, newFake(t, lostBucket, provider), developer,
		"/teams/payments/s3buckets/lost?tab=conditions").Body.String()
	lacks(t, page, "ExternallyDeleted", "1 h ago", "2 h ago")
	if strings.Index(page, "<b>Reconciling</b>") < strings.Index(page, "<b>Stalled</b>") {
		t.Error("the condition that turned last does not stand first")
	}
	lacks(t, visit(t, busySite(t), developer, "/teams/payments/s3buckets/receipts?tab=conditions").Body.String(),
		"None yet: Portico has not checked this resource")
}

func TestActivityJoinsWhatIsKnown(t *testing.T) {
	page := visit(t, busySite(t), developer, atInvoices+"?tab=activity").Body.String()
	last := 0
	for _, deed := range []string{"Repaired", "Ready for the first time", "Requested"} {
		at := strings.Index(page, "<b>"+deed+"</b>")
		if at < last {
			t.Errorf("%s stands before what happened after it, or nowhere", deed)
		}
		last = at
	}
	lacks(t, page, "PutBucketVersioning", "Last check that had something to do", "Last change made in AWS",
		"changed outside Portico", "By Payments Developer (payments-dev).", "changed once since it was requested")
	lacks(t, visit(t, busySite(t), developer, "/teams/payments/s3buckets/receipts?tab=activity").Body.String(),
		"as it was requested", "not checked yet")
}

func TestANewEmptyOneIsMadeOnlyOfWhatIsGone(t *testing.T) {
	const lost = "/teams/payments/s3buckets/lost"
	f := newFake(t, lostBucket, readyBucket, provider)
	lacks(t, visit(t, f, developer, lost).Body.String(), `action="`+lost+`/acknowledge"`, `name="number" value="2"`)
	if strings.Contains(visit(t, f, developer, atInvoices).Body.String(), "/acknowledge") {
		t.Error("a bucket that is there is to be made again")
	}
	for _, c := range []struct{ path, number, want string }{
		{lost, "1", ""},
		{lost, "", ""},
		{atInvoices, "", ""},
		{atInvoices, "1", ""},
		{lost, "2", "2"},
	} {
		w := post(t, f, c.path+"/acknowledge", url.Values{"number": {c.number}})
		got := f.objects[0].GetAnnotations()["portico.dev/acknowledge-recreate"] +
			f.objects[1].GetAnnotations()["portico.dev/acknowledge-recreate"]
		if w.Code != 303 || got != c.want {
			t.Errorf("%s with %q answers %d and leaves %q, want %q", c.path, c.number, w.Code, got, c.want)
		}
	}
	if w := post(t, f, "/teams/payments/s3buckets/none/acknowledge", nil); w.Code != 404 {
		t.Errorf("of what is not there it answers %d", w.Code)
	}
}

func TestThePageCopiesAChangeOverREST(t *testing.T) {
	page := visit(t, busySite(t), developer, atInvoices+"?tab=yaml").Body.String()
	lacks(t, page, "curl -X PUT https://portal.example.com/api/v1/namespaces/payments/s3buckets/invoices",
		"If-Match: &#34;uid-invoices-2-", "kubectl edit s3buckets/invoices -n payments")
}
