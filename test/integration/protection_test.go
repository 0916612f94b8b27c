//go:build integration

package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// guardedOf returns the objects whose spec protects them by field, with functions that switch AWS's own protection off,
// report whether the resource exists in AWS, and allow its deletion.
func guardedOf(t *testing.T, ns string) map[string]guardedCase {
	t.Helper()
	database := databaseOf(ns, "precious", func(s *v1alpha1.RDSInstanceSpec) {
		s.DeletionProtection, s.SkipFinalSnapshot = aws.Bool(true), true
	})
	machine := machineOf(ns, "safe", func(s *v1alpha1.EC2InstanceSpec) { s.DisableAPITermination = aws.Bool(true) })
	return map[string]guardedCase{
		"deletionProtection": {
			obj: database,
			unguard: func() error {
				_, err := outsideRDS(t).ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{
					DBInstanceIdentifier: &database.Status.DBInstanceIdentifier, DeletionProtection: aws.Bool(false),
					ApplyImmediately: aws.Bool(true),
				})
				return err
			},
			there: func() bool { return inRDS(t, database) != nil },
			allow: func(o engine.Object) { o.(*v1alpha1.RDSInstance).Spec.DeletionProtection = aws.Bool(false) },
		},
		"disableApiTermination": {
			obj: machine,
			unguard: func() error {
				_, err := outsideEC2(t).ModifyInstanceAttribute(t.Context(), &ec2.ModifyInstanceAttributeInput{
					InstanceId: &machine.Status.InstanceID, DisableApiTermination: &ec2types.AttributeBooleanValue{
						Value: aws.Bool(false),
					},
				})
				return err
			},
			there: func() bool { return inEC2(t, machine).State.Name == ec2types.InstanceStateNameRunning },
			allow: func(o engine.Object) { o.(*v1alpha1.EC2Instance).Spec.DisableAPITermination = aws.Bool(false) },
		},
	}
}

type guardedCase struct {
	obj     engine.Object
	unguard func() error
	there   func() bool
	allow   func(engine.Object)
}

// Protection in the spec is honoured even if AWS's own was switched off outside Portico: the deletion of the object is
// refused, and that of its namespace waits and says what for.
func TestWhatTheSpecProtectsIsNotDeleted(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	all := guardedOf(t, ns)
	for field, g := range all {
		createReady(t, c, g.obj)
		if err := erase(t, c, g.obj); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), field+": false") {
			t.Errorf("%s: kubectl delete says %v", field, err)
		}
		if err := g.unguard(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
		t.Fatal(err)
	}
	for field, g := range all {
		got := reason(t, c, g.obj, v1alpha1.ReasonDeletionProtected)
		if !strings.Contains(got.Message, field+": false") || !strings.Contains(got.Message, "nothing was deleted") ||
			!g.there() {
			t.Errorf("%s: %q, there %v", field, got.Message, g.there())
		}
	}
	for _, g := range all {
		edit(t, c, g.obj, g.allow)
		awaitGone(t, c, g.obj)
		if g.there() {
			t.Error("it is left")
		}
	}
}

// An object with the annotation is not deleted with its namespace until somebody confirms the object's deletion.
func TestWhatAnAnnotationProtectsHoldsUpItsNamespace(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	q := queueOf(ns, "jobs")
	q.Annotations = map[string]string{v1alpha1.AnnotationDeletionProtection: "true"}
	createReady(t, c, q)
	if err := c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
		t.Fatal(err)
	}
	got := reason(t, c, q, v1alpha1.ReasonDeletionProtected)
	if !strings.Contains(got.Message, v1alpha1.AnnotationConfirmDeletion+"=jobs") {
		t.Errorf("message %q", got.Message)
	}
	await(t, "the namespace to say for what it waits", func() (bool, string) {
		is := &corev1.Namespace{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: ns}, is); err != nil {
			return false, err.Error()
		}
		for _, condition := range is.Status.Conditions {
			if condition.Type == corev1.NamespaceFinalizersRemaining && condition.Status == corev1.ConditionTrue {
				return strings.Contains(condition.Message, engine.Finalizer), condition.Message
			}
		}
		return false, "no condition"
	})
	annotate(t, c, q, v1alpha1.AnnotationConfirmDeletion, "jobs")
	awaitGone(t, c, q)
}

// Annotations and labels whose value or name would be ignored are refused.
func TestAnnotationsOfOursHaveAMeaning(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	for name, row := range map[string]struct {
		key, value string
		says       string // "" is accepted
	}{
		"a capital letter":      {v1alpha1.AnnotationDeletionProtection, "True", "true or false"},
		"a pause of a word":     {v1alpha1.AnnotationPaused, "yes", "true or false"},
		"no pause":              {v1alpha1.AnnotationPaused, "false", ""},
		"a pause":               {v1alpha1.AnnotationPaused, "true", ""},
		"a mistyped name":       {"portico.dev/pasued", "true", "does not know"},
		"an interval":           {v1alpha1.AnnotationAuditInterval, "1h30m", ""},
		"no interval":           {v1alpha1.AnnotationAuditInterval, "soon", "a duration of at least a minute"},
		"an interval too short": {v1alpha1.AnnotationAuditInterval, "59s", "a duration of at least a minute"},
		"a number":              {v1alpha1.AnnotationAcknowledgeRecreate, "1", ""},
		"no number":             {v1alpha1.AnnotationAcknowledgeRecreate, "yes", "the number"},
		"an earlier version":    {v1alpha1.AnnotationRollback, v1alpha1.RollbackPrevious, ""},
		"no version":            {v1alpha1.AnnotationRollback, "last", "previous, or the number"},
		"a moment":              {v1alpha1.AnnotationReconcileRequestedAt, "now", ""},
		"a long text":           {v1alpha1.AnnotationReconcileRequestedAt, strings.Repeat("x", 200), "up to 128"},
		"somebody else's":       {"example.com/paused", "True", ""},
	} {
		t.Run(name, func(t *testing.T) {
			q := queueOf(ns, unique("notes"))
			q.Annotations = map[string]string{row.key: row.value}
			err := c.Create(t.Context(), q, client.DryRunAll)
			if (err == nil) != (row.says == "") || err != nil && !apierrors.IsInvalid(err) {
				t.Errorf("error = %v, want it invalid: %v", err, row.says != "")
			}
			if !strings.Contains(fmt.Sprint(err), row.says) {
				t.Errorf("error = %v, want %q in it", err, row.says)
			}
		})
	}
	label := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: unique("labels"), Labels: map[string]string{
			v1alpha1.LabelConfirmDeletion: "Required",
		}},
	}
	await(t, "a label without a meaning to be refused", func() (bool, string) {
		err := c.Create(t.Context(), label.DeepCopy(), client.DryRunAll)
		return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "required or optional"), fmt.Sprint(err)
	})
}

// Annotations from before the rule remain, and their objects can be edited.
func TestAnnotationsOfBeforeAreLeftAlone(t *testing.T) {
	c := admin(t)
	q := queueOf(team(t, c), "old")
	create(t, c, q)
	odd := map[string]string{v1alpha1.AnnotationPaused: "True"}
	restore := suspend(t, c, "portico-annotations")
	await(t, "the old value to be taken", func() (bool, string) {
		q.Annotations = odd
		err := c.Update(t.Context(), q)
		return err == nil, fmt.Sprint(err)
	})
	restore()
	await(t, "the policy to be in force", func() (bool, string) {
		probe := queueOf(q.Namespace, "probe")
		probe.Annotations = odd
		err := c.Create(t.Context(), probe, client.DryRunAll)
		return apierrors.IsInvalid(err), fmt.Sprint(err)
	})
	edit(t, c, q, func(q *v1alpha1.SQSQueue) { q.Spec.DelaySeconds = aws.Int32(5) })
	if q.Annotations[v1alpha1.AnnotationPaused] != "True" {
		t.Errorf("annotations %v", q.Annotations)
	}
	q.Annotations[v1alpha1.AnnotationDeletionProtection] = "on"
	if err := c.Update(t.Context(), q); !apierrors.IsInvalid(err) {
		t.Errorf("another one: %v", err)
	}
}

// suspend deletes the binding of a policy, and returns a function that restores it, which also runs at the end of the
// test.
func suspend(t *testing.T, c client.Client, name string) (restore func()) {
	t.Helper()
	b := &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, b); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	again := sync.OnceFunc(func() {
		b.ResourceVersion, b.UID = "", ""
		if err := c.Create(context.Background(), b); err != nil { // the test's own context may be cancelled
			t.Error(err)
		}
	})
	t.Cleanup(again)
	return again
}
