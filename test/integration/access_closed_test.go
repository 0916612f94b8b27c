//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// bare waits until nothing in an account gives permissions to Pods of a namespace any more.
func (a *rightsAccount) bare(t *testing.T, ns string) {
	t.Helper()
	await(t, "the rights to be taken away", func() (bool, string) {
		roles, associations := a.roles(t, ns), a.associations(t, ns)
		return len(roles) == 0 && len(associations) == 0, strings.Join(roles, ", ")
	})
}

// A provider that is closed to a namespace, or is being deleted, removes the permissions of the namespace's Pods,
// even if the binding is paused; when it is opened again, the permissions return.
func TestAClosedAccountTakesRightsFromPods(t *testing.T) {
	c := withOperator(t)
	var used []string
	for name, close := range map[string]func(*testing.T, *rightsAccount, string){
		"allowedNamespaces": func(t *testing.T, a *rightsAccount, _ string) {
			t.Helper()
			edit(t, c, a.provider, func(p *v1alpha1.AWSProvider) {
				p.Spec.AllowedNamespaces = &metav1.LabelSelector{
					MatchLabels: map[string]string{"kubernetes.io/metadata.name": "nobody"},
				}
			})
		},
		"the namespace's label": func(t *testing.T, a *rightsAccount, ns string) {
			t.Helper()
			edit(t, c, a.provider, func(p *v1alpha1.AWSProvider) {
				p.Spec.AllowedNamespaces = &metav1.LabelSelector{MatchLabels: map[string]string{"aws": "yes"}}
			})
			edit(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, func(n *corev1.Namespace) {
				n.Labels["aws"] = "no"
			})
		},
		"no rights for Pods": func(t *testing.T, a *rightsAccount, _ string) {
			t.Helper()
			edit(t, c, a.provider, func(p *v1alpha1.AWSProvider) { p.Spec.WorkloadIdentity = nil })
		},
		"deletion": func(t *testing.T, a *rightsAccount, _ string) {
			t.Helper()
			if err := c.Delete(t.Context(), a.provider); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for _, paused := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", paused"}[paused], func(t *testing.T) {
				used = append(used, t.Name())
				a := newRightsAccount(t, c, fmt.Sprint("2300000003", 10+len(used)),
					v1alpha1.WorkloadIdentityPodIdentity)
				ns := team(t, c)
				a.things(t, c, ns, "bound")
				create(t, c, &corev1.ServiceAccount{ObjectMeta: meta1(ns, "worker")})
				worker := a.worker(ns)
				create(t, c, worker)
				ready(t, c, worker)
				if paused {
					annotate(t, c, worker, v1alpha1.AnnotationPaused, "true")
				}
				close(t, a, ns)
				a.bare(t, ns)
				await(t, "the status to name no rights", func() (bool, string) {
					err := c.Get(t.Context(), client.ObjectKeyFromObject(worker), worker)
					return err == nil && worker.Status.Policy == "" && worker.Status.AccountID == "",
						worker.Status.Policy
				})
			})
		}
	}
}

// Permissions follow what AWS has and the platform has admitted: a refused key gives none.
func TestARefusedKeyGivesNoRights(t *testing.T) {
	c := withOperator(t)
	a := newRightsAccount(t, c, "230000000391", v1alpha1.WorkloadIdentityPodIdentity)
	ns := team(t, c)
	a.things(t, c, ns, "bound")
	create(t, c, &corev1.ServiceAccount{ObjectMeta: meta1(ns, "worker")})
	worker := a.worker(ns)
	create(t, c, worker)
	ready(t, c, worker)
	const foreign = "arn:aws:kms:eu-west-1:240000000009:key/11111111-1111-1111-1111-111111111111"
	bucket, queue := bucketOf(ns, "bound"), queueOf(ns, "bound")
	edit(t, c, bucket, func(b *v1alpha1.S3Bucket) {
		b.Spec.Encryption = &v1alpha1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: foreign}
	})
	edit(t, c, queue, func(q *v1alpha1.SQSQueue) { q.Spec.KMSMasterKeyID = foreign })
	reason(t, c, bucket, "ReferenceNotAllowed")
	reason(t, c, queue, "ReferenceNotAllowed")
	// a pass that writes the policy again
	edit(t, c, worker, func(w *v1alpha1.AccessBinding) { w.Spec.Resources[0].Access = v1alpha1.AccessReadWrite })
	ready(t, c, worker)
	if p := worker.Status.Policy; strings.Contains(p, "kms:") || !strings.Contains(p, "sqs:SendMessage") {
		t.Errorf("the policy has a key that was refused: %s", p)
	}
	edit(t, c, a.provider, func(p *v1alpha1.AWSProvider) { p.Spec.AllowedKMSKeys = []string{foreign} })
	ready(t, c, a.provider)
	wakeNow(t, c, bucket)
	ready(t, c, bucket)
	await(t, "the rights to the key that is allowed now", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(worker), worker)
		return err == nil && strings.Contains(worker.Status.Policy, foreign), worker.Status.Policy
	})
}

// Names of ServiceAccounts that do not exist use no quota in AWS, and a namespace has its share of the quota.
func TestNamesAloneTakeNoRoomInAWS(t *testing.T) {
	c := withOperator(t)
	a := newRightsAccount(t, c, "230000000392", v1alpha1.WorkloadIdentityPodIdentity)
	edit(t, c, a.provider, func(p *v1alpha1.AWSProvider) { p.Spec.WorkloadIdentity.MaxPerNamespace = new(int32(2)) })
	ready(t, c, a.provider)
	ns := team(t, c)
	a.things(t, c, ns, "bound")
	var all []*v1alpha1.AccessBinding
	for _, name := range []string{"a", "b", "c"} {
		w := a.worker(ns)
		w.Name, w.Spec.ServiceAccountName = name, name
		create(t, c, w)
		reason(t, c, w, v1alpha1.ReasonWaitingForServiceAccount)
		all = append(all, w)
	}
	if roles := a.roles(t, ns); len(roles) > 0 || len(a.associations(t, ns)) > 0 {
		t.Errorf("made for nobody: %v", roles)
	}
	for _, w := range all {
		create(t, c, &corev1.ServiceAccount{ObjectMeta: meta1(ns, w.Name)})
		wakeNow(t, c, w)
	}
	ready(t, c, all[0])
	ready(t, c, all[1])
	if got := reason(t, c, all[2], v1alpha1.ReasonQuotaExceeded); !strings.Contains(got.Message, "maxPerNamespace") {
		t.Error(got.Message)
	}
	gone(t, c, all[0])
	wakeNow(t, c, all[2])
	ready(t, c, all[2])
}
