//go:build integration

package integration

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/keep"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// isKept reports whether the object was created again, and is in sync.
func (l life) isKept() bool {
	return l.isReady() && l.GetDeletionTimestamp().IsZero() && l.GetAnnotations()[v1alpha1.AnnotationKeptFrom] != ""
}

// kept waits until the object with this UID was created again, and is Ready.
func kept(t *testing.T, c client.Client, obj engine.Object, was types.UID) {
	t.Helper()
	await(t, obj.GetName()+" to be made again", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)
		return err == nil && obj.GetUID() != was, string(obj.GetUID())
	})
	ready(t, c, obj)
	if got := obj.GetAnnotations()[v1alpha1.AnnotationKeptFrom]; got != string(was) ||
		!obj.GetDeletionTimestamp().IsZero() {
		t.Errorf("kept from %q, deleted %v", got, obj.GetDeletionTimestamp())
	}
	awaitNoRecords(t, c)
}

func awaitNoRecords(t *testing.T, c client.Client) {
	t.Helper()
	await(t, "the records to be gone", func() (bool, string) {
		list := &corev1.ConfigMapList{}
		err := c.List(t.Context(), list, client.InNamespace(stack.Namespace), client.MatchingLabels{keep.Label: "true"})
		return err == nil && len(list.Items) == 0, "there"
	})
}

// dataOf returns the data of a Secret.
func dataOf(t *testing.T, c client.Client, ns, name string) map[string][]byte {
	t.Helper()
	s := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, s); err != nil {
		t.Fatal(err)
	}
	return s.Data
}

// Anybody who can write the object can cancel a pending deletion; nothing of the bucket or of the request is lost.
func TestABucketThatIsKeptKeepsItsObjects(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	member := developer(t, c, ns)
	b := bucketOf(ns, "docs")
	b.Labels, b.Annotations = map[string]string{"cost": "42"}, map[string]string{"example.com/note": "ours"}
	create(t, member, b)
	ready(t, c, b)
	by, was := b.Annotations[v1alpha1.AnnotationRequestedBy], b.UID
	api := outside(t, "test")
	put(t, api, b.Spec.BucketName, "ledger.csv")
	binding := dataOf(t, c, ns, b.Status.Binding.Name)
	if err := erase(t, member, b); err != nil {
		t.Fatal(err)
	}
	reason(t, c, b, "BucketNotEmpty")
	annotate(t, member, b, v1alpha1.AnnotationKeep, "true")
	kept(t, c, b, was)
	if _, err := api.HeadObject(
		t.Context(), &s3.HeadObjectInput{Bucket: &b.Spec.BucketName, Key: aws.String("ledger.csv")}); err != nil {
		t.Errorf("the object is gone: %v", err)
	}
	if got := b.Annotations[v1alpha1.AnnotationRequestedBy]; got != by || by == "" {
		t.Errorf("requested by %q, was by %q", got, by)
	}
	for _, key := range []string{v1alpha1.AnnotationKeep, v1alpha1.AnnotationConfirmDeletion} {
		if _, left := b.Annotations[key]; left {
			t.Errorf("%s is left: %v", key, b.Annotations)
		}
	}
	if b.Labels["cost"] != "42" || b.Annotations["example.com/note"] != "ours" {
		t.Errorf("labels %v, annotations %v", b.Labels, b.Annotations)
	}
	if tags := tagsOf(t, api, b.Spec.BucketName); tags["portico.dev/uid"] != string(b.UID) {
		t.Errorf("tags %v: not those of the new object", tags)
	}
	if got := dataOf(t, c, ns, b.Status.Binding.Name); !maps.EqualFunc(got, binding, func(a, b []byte) bool {
		return string(a) == string(b)
	}) {
		t.Error("the connection details are others")
	}
	gone(t, c, bucketEmptied(t, api, b))
}

func bucketEmptied(t *testing.T, api *s3.Client, b *v1alpha1.S3Bucket) *v1alpha1.S3Bucket {
	t.Helper()
	if _, err := api.DeleteObject(
		t.Context(), &s3.DeleteObjectInput{Bucket: &b.Spec.BucketName, Key: aws.String("ledger.csv")}); err != nil {
		t.Fatal(err)
	}
	return b
}

// A kept database keeps its password, and RDS is not called to change it.
func TestADatabaseThatIsKeptKeepsItsPassword(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	db := databaseOf(ns, "ledger")
	createReady(t, c, db)
	// to block the deletion
	protect := &rds.ModifyDBInstanceInput{
		DBInstanceIdentifier: &db.Status.DBInstanceIdentifier,
		DeletionProtection:   new(true),
	}
	if _, err := outsideRDS(t).ModifyDBInstance(t.Context(), protect); err != nil {
		t.Fatal(err)
	}
	was, password := db.UID, dataOf(t, c, ns, db.Status.Binding.Name)["password"]
	if err := erase(t, c, db); err != nil {
		t.Fatal(err)
	}
	reason(t, c, db, "DeletionProtected")
	m := world.Proxy.Mark()
	annotate(t, c, db, v1alpha1.AnnotationKeep, "true")
	kept(t, c, db, was)
	if got := dataOf(t, c, ns, db.Status.Binding.Name)["password"]; string(got) != string(password) || len(got) == 0 {
		t.Error("the password is another one")
	}
	calls := world.Proxy.CallsSince(m, func(call awsproxy.Call) bool {
		return call.Operation == "ModifyDBInstance" || call.Operation == "DeleteDBInstance"
	})
	if len(calls) != 0 {
		t.Errorf("calls %v", calls)
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: ns, Name: external.SecretName("RDSInstance", db, external.PurposeMaster)}
	if err := c.Get(t.Context(), key, secret); err != nil || !metav1.IsControlledBy(secret, db) ||
		secret.Annotations[v1alpha1.AnnotationKeptFor] != "" {
		t.Errorf("the record of the password: %v, %v", secret.ObjectMeta, err)
	}
}

// While a kept object is being created again, nobody else can adopt its resource.
func TestAnotherTeamTakesNothingThatIsKept(t *testing.T) {
	c := admin(t)
	stop := startOperator(t, operatorOptions{})
	ns, thieves := team(t, c), team(t, c)
	p := keyed(t, c, "240000000092") // an account that AWS does not protect from names of another team
	b := bucketOf(ns, "docs")
	b.Spec.ProviderRef.Name = p.Name
	createReady(t, c, b)
	was := b.UID
	stop()
	if err := erase(t, c, b); err != nil {
		t.Fatal(err)
	}
	annotate(t, c, b, v1alpha1.AnnotationKeep, "true")
	thief := bucketOf(thieves, "docs")
	thief.Spec.ProviderRef.Name, thief.Spec.BucketName, thief.Spec.AdoptionPolicy = p.Name, b.Spec.BucketName,
		v1alpha1.AdoptionAdopt
	thief.Annotations = map[string]string{v1alpha1.AnnotationKeptFrom: string(was)}
	create(t, c, thief)
	startOperator(t, operatorOptions{})
	reason(t, c, thief, "AlreadyExists")
	kept(t, c, b, was)
	annotate(t, c, thief, v1alpha1.AnnotationReconcileRequestedAt, "1")
	atRest(t, c, thief)
	reason(t, c, thief, "AlreadyExists")
	if tags := tagsOf(t, outside(t, p.Name), b.Spec.BucketName); tags["portico.dev/uid"] != string(b.UID) {
		t.Errorf("tags %v: not those of the object that was kept", tags)
	}
}

// A resource that no longer exists cannot be kept: no new, empty one is created in its place unless the owner requests
// it.
func TestWhatIsGoneIsNotKept(t *testing.T) {
	c := admin(t)
	stop := startOperator(t, operatorOptions{})
	b := bucketOf(team(t, c), "docs")
	createReady(t, c, b)
	stop()
	if err := erase(t, c, b); err != nil {
		t.Fatal(err)
	}
	annotate(t, c, b, v1alpha1.AnnotationKeep, "true")
	if _, err := outside(t, "test").DeleteBucket(
		t.Context(), &s3.DeleteBucketInput{Bucket: &b.Spec.BucketName}); err != nil {
		t.Fatal(err)
	}
	startOperator(t, operatorOptions{})
	awaitGone(t, c, b)
	awaitEvent(t, c, b, "KeepRefused", "gone")
	awaitNoRecords(t, c)
}

// A request to keep what cannot be kept is refused with the reason.
func TestKeepingIsAskedForWhereItHelps(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	leaving := team(t, c)
	b, app, last := bucketOf(ns, "docs"), appOf(ns, "shop"), bucketOf(leaving, "docs")
	for _, o := range []client.Object{b, app, last} {
		o.SetFinalizers([]string{"example.com/wait"})
		create(t, c, o)
		t.Cleanup(func() { release(context.Background(), t, c, o) })
	}
	asks := func(o client.Object, value string) error {
		return c.Patch(t.Context(), o,
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"portico.dev/keep":`+value+
				`}}}`)))
	}
	refused := func(err error, says string) {
		t.Helper()
		if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want it refused with %q", err, says)
		}
	}
	refused(asks(b, `"true"`), "is not being deleted")
	fresh := bucketOf(ns, "fresh")
	fresh.Annotations = map[string]string{v1alpha1.AnnotationKeep: "true"}
	refused(c.Create(t.Context(), fresh), "is not being deleted")
	for _, o := range []client.Object{b, app} {
		if err := erase(t, c, o); err != nil {
			t.Fatal(err)
		}
	}
	refused(asks(app, `"true"`), "only resources of AWS can")
	refused(asks(b, `"yes"`), "Set it to true")
	if err := asks(b, `"true"`); err != nil {
		t.Fatal(err)
	}
	refused(asks(b, `null`), "is to be kept already")
	if err := c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: leaving}}); err != nil {
		t.Fatal(err)
	}
	await(t, "the namespace to be leaving, for the policies too", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(last), last)
		return err == nil && !last.DeletionTimestamp.IsZero() && apierrors.IsForbidden(asks(last, `"true"`)),
			"asked to be kept"
	})
	refused(asks(last, `"true"`), "its namespace is being deleted")
}
