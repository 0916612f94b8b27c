package pages

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/operator"
)

const (
	readyBucket = `
apiVersion: portico.dev/v1alpha1
kind: S3Bucket
metadata: {name: invoices, namespace: payments, generation: 2, creationTimestamp: "2026-11-09T12:00:00Z",
  annotations: {portico.dev/requested-by: "oidc:payments-dev"}, finalizers: [portico.dev/release]}
spec: {providerRef: {name: aws-prod}, deletionPolicy: Delete, versioning: Enabled, tags: {cost: "42", team: payments}}
status: {observedGeneration: 2, bucketName: payments-invoices-7f3a91c2, arn: "arn:aws:s3:::payments-invoices-7f3a91c2", region: eu-west-1, accountID: "123456789012",
  firstReadyTime: "2026-11-09T12:00:02Z", lastSyncTime: "2026-11-21T09:40:00Z", binding: {name: invoices-connection},
  conditions: [{type: Ready, status: "True", reason: InSync, message: everything is as the spec asks, lastTransitionTime: "2026-11-09T12:00:02Z"}]}
`
	stalledBucket = `
apiVersion: portico.dev/v1alpha1
kind: S3Bucket
metadata: {name: ledger-archive, namespace: payments, generation: 1, creationTimestamp: "2026-11-21T11:57:00Z",
  annotations: {portico.dev/requested-by: "oidc:payments-dev"}, finalizers: [portico.dev/release]}
spec: {providerRef: {name: aws-prod}, bucketName: ledger-archive, deletionPolicy: Retain}
status: {observedGeneration: 1,
  conditions: [{type: Ready, status: "False", reason: NameTaken, message: "the bucket name ledger-archive is taken by somebody else, somewhere in AWS: choose another bucketName, or leave it out and Portico picks one", lastTransitionTime: "2026-11-21T11:57:01Z"},
    {type: Stalled, status: "True", reason: NameTaken, message: "the bucket name ledger-archive is taken by somebody else, somewhere in AWS: choose another bucketName, or leave it out and Portico picks one", lastTransitionTime: "2026-11-21T11:57:01Z"}]}
`
	creatingBucket = `
apiVersion: portico.dev/v1alpha1
kind: S3Bucket
metadata: {name: receipts, namespace: payments, generation: 1, creationTimestamp: "2026-11-21T11:59:58Z",
  annotations: {portico.dev/requested-by: "oidc:ci-deploy"}}
spec: {providerRef: {name: aws-prod}, deletionPolicy: Delete}
status: {observedGeneration: -1}
`
	deletingBucket = `
apiVersion: portico.dev/v1alpha1
kind: S3Bucket
metadata: {name: import-tmp, namespace: payments, generation: 3, creationTimestamp: "2026-09-21T12:00:00Z", deletionTimestamp: "2026-11-21T11:55:00Z",
  annotations: {portico.dev/requested-by: "oidc:payments-dev"}, finalizers: [portico.dev/release, example.org/backup]}
spec: {providerRef: {name: aws-prod}, deletionPolicy: Delete, forceDestroy: true}
status: {observedGeneration: 3, bucketName: payments-import-tmp-0b9d22aa, arn: "arn:aws:s3:::payments-import-tmp-0b9d22aa", region: eu-west-1, accountID: "123456789012",
  conditions: [{type: Ready, status: "False", reason: Emptying, message: "emptying the bucket: 12400 objects deleted so far", lastTransitionTime: "2026-11-21T11:55:00Z"},
    {type: Reconciling, status: "True", reason: Emptying, message: "emptying the bucket: 12400 objects deleted so far", lastTransitionTime: "2026-11-21T11:55:00Z"}]}
`
	pausedBucket = `
apiVersion: portico.dev/v1alpha1
kind: S3Bucket
metadata: {name: exports, namespace: payments, generation: 1, creationTimestamp: "2026-10-12T12:00:00Z", annotations: {portico.dev/paused: "true"}}
spec: {providerRef: {name: aws-prod}, deletionPolicy: Orphan}
status: {observedGeneration: 1, bucketName: payments-exports-11aa22bb, conditions: [{type: Ready, status: "True", reason: InSync, message: ok}, {type: Paused, status: "True", reason: Paused}]}
`
	provider = `
apiVersion: portico.dev/v1alpha1
kind: AWSProvider
metadata: {name: aws-prod, generation: 1, creationTimestamp: "2026-08-01T12:00:00Z"}
spec: {region: eu-west-1, allowedNamespaces: {}}
status: {observedGeneration: 1, accountID: "123456789012", conditions: [{type: Ready, status: "True", reason: InSync, message: ok}]}
`
)

// busySite has a bucket in every phase.
func busySite(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := newFake(tb, readyBucket, stalledBucket, creatingBucket, deletingBucket, pausedBucket, provider)
	f.events = append(f.events,
		event("invoices", "Repaired", "Normal", "versioning Suspended → Enabled, changed outside Portico",
			2*time.Hour+20*time.Minute),
		event("invoices", "InSync", "Normal", "everything is as the spec asks", 12*24*time.Hour),
		event("ledger-archive", "NameTaken", "Warning", "the bucket name ledger-archive is taken", 3*time.Minute))
	f.checks = map[string]operator.Checks{"invoices": checkedInvoices(), "receipts": {State: operator.Unchecked}}
	return f
}

var platformAdmin = auth.Identity{Username: "oidc:platform-admin", Groups: []string{"admins"}, Name: "Platform Admin"}

func event(name, reason, kind, message string, ago time.Duration) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "payments"},
		InvolvedObject: corev1.ObjectReference{Name: name, UID: types.UID("uid-" + name)}, Reason: reason, Type: kind, Message: message,
		LastTimestamp: metav1.Time{Time: noon.Add(-ago)}, Count: 1,
	}
}
