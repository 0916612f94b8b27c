//go:build integration

package integration

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
)

// toRDS lists the operator's calls to RDS since m.
func toRDS(m awsproxy.Mark, filters ...awsproxy.Filter) []string {
	var all []string
	for _, c := range world.Proxy.CallsSince(
		m, append(filters, awsproxy.By(awsproxy.Operator), awsproxy.To("rds"))...) {
		all = append(all, c.Operation)
	}
	return all
}

// bound returns the content of an instance's binding Secret.
func bound(t *testing.T, c client.Client, i *v1alpha1.RDSInstance) map[string]string {
	t.Helper()
	return secretOf(t, c, i.Namespace, i.Status.Binding.Name)
}

func secretOf(t *testing.T, c client.Client, ns, name string) map[string]string {
	t.Helper()
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, secret); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for key, value := range secret.Data {
		values[key] = string(value)
	}
	return values
}

func TestADatabaseBecomesReadyWithAPasswordAndRests(t *testing.T) {
	calm(t)
	c := withOperator(t)
	i := databaseOf(team(t, c), "ledger")
	m := world.Proxy.Mark()
	createReady(t, c, i)
	if got := toRDS(m, awsproxy.Writes); !slices.Equal(got, []string{"CreateDBInstance"}) {
		t.Errorf("created by %v", got)
	}
	b := bound(t, c, i)
	u, err := url.Parse(b["uri"])
	if err != nil {
		t.Fatal("the URI is none")
	}
	password, _ := u.User.Password()
	for key, want := range map[string]string{
		"type": "postgresql", "host": i.Status.Endpoint, "database": "ledger", "username": "owner",
	} {
		if b[key] != want {
			t.Errorf("binding: %s = %q, want %q", key, b[key], want)
		}
	}
	if n := len(b["password"]); n < 30 || password != b["password"] {
		t.Errorf("binding: password of %d characters, want 30, and the same in the URI", n)
	}
	if want := b["host"] + ":" + b["port"]; u.Host != want {
		t.Errorf("binding: host of the URI = %q, want %q", u.Host, want)
	}
	db := inRDS(t, i)
	if !*db.StorageEncrypted || *db.PubliclyAccessible {
		t.Errorf("StorageEncrypted = %v, PubliclyAccessible = %v, want true, false", *db.StorageEncrypted,
			*db.PubliclyAccessible)
	}
	if s := i.Status; s.EngineVersion != "16.10" || s.InstanceClass != "db.t4g.micro" || s.AllocatedStorage != 20 {
		t.Errorf("EngineVersion = %q, InstanceClass = %q, AllocatedStorage = %d, want 16.10, db.t4g.micro, 20",
			s.EngineVersion, s.InstanceClass, s.AllocatedStorage)
	}

	version := i.Status
	m = world.Proxy.Mark()
	annotate(t, c, i, v1alpha1.AnnotationReconcileRequestedAt, "1")
	await(t, "a pass on request", func() (bool, string) { got := toRDS(m); return len(got) > 0, fmt.Sprint(got) })
	ready(t, c, i)
	if got := toRDS(m); !slices.Equal(got, []string{"DescribeDBInstances"}) {
		t.Errorf("a check at rest called %v", got)
	}
	if !i.Status.LastSyncTime.Equal(version.LastSyncTime) {
		t.Error("a check at rest counted as a change")
	}
	for _, e := range eventsOf(t, c, i) {
		if strings.Contains(e, b["password"]) {
			t.Error("an event shows the password")
		}
	}
}

// live creates the operator's client as its command does: Secrets of users are not cached.
func live(cfg *rest.Config, o client.Options) (client.Client, error) {
	o.Cache.DisableFor = append(o.Cache.DisableFor, &corev1.Secret{})
	return client.New(cfg, o)
}

func TestAChangedPasswordSecretIsAppliedAndPublished(t *testing.T) {
	c := admin(t)
	startOperator(t, operatorOptions{newClient: live})
	ns := team(t, c)
	secret := &corev1.Secret{ObjectMeta: meta1(ns, "mine"), StringData: map[string]string{"pw": "correct-horse"}}
	i := databaseOf(ns, "given", func(s *v1alpha1.RDSInstanceSpec) {
		s.MasterUserPasswordSecretRef = &v1alpha1.SecretKeyRef{Name: "mine", Key: "pw"}
	})
	create(t, c, i)
	if got := reason(t, c, i, "SecretNotFound"); !strings.Contains(got.Message, "mine") {
		t.Errorf("message %q", got.Message)
	}
	create(t, c, secret)
	annotate(t, c, i, v1alpha1.AnnotationReconcileRequestedAt, "1")
	ready(t, c, i)
	if bound(t, c, i)["password"] != "correct-horse" {
		t.Error("the binding does not hold the Secret's password")
	}
	m, before := world.Proxy.Mark(), i.Status.Binding.ResourceVersion
	edit(t, c, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"pw": "battery-staple"} })
	annotate(t, c, i, v1alpha1.AnnotationReconcileRequestedAt, "2")
	await(t, "the new password to be published", func() (bool, string) {
		ready(t, c, i)
		return bound(t, c, i)["password"] == "battery-staple" && i.Status.Binding.ResourceVersion != before,
			"the old one"
	})
	if got := toRDS(m, awsproxy.Writes); !slices.Equal(got, []string{"ModifyDBInstance"}) {
		t.Errorf("applied by %v", got)
	}
	awaitEvent(t, c, i, "PasswordChanged", "Secret mine")
	annotate(t, c, i, v1alpha1.AnnotationRotatePassword, "1")
	awaitEvent(t, c, i, "RotationIgnored", "Secret mine")
}

func TestRotationByAnnotationWorksAtOnceAndOnce(t *testing.T) {
	c := withOperator(t)
	i := databaseOf(team(t, c), "rotated")
	createReady(t, c, i)
	before, m := bound(t, c, i)["password"], world.Proxy.Mark()
	annotate(t, c, i, v1alpha1.AnnotationRotatePassword, "today")
	await(t, "a rotation", func() (bool, string) {
		ready(t, c, i)
		return i.Status.PasswordRotation == "today" && bound(t, c, i)["password"] != before, "the old password"
	})
	awaitEvent(t, c, i, "PasswordChanged", v1alpha1.AnnotationRotatePassword)
	after := bound(t, c, i)["password"]
	record := secretOf(t, c, i.Namespace, i.Name+"-rdsinstance-master")
	if record["password"] != after || record["next"] != "" {
		t.Error("the record does not hold the password in force alone")
	}
	annotate(t, c, i, v1alpha1.AnnotationReconcileRequestedAt, "1")
	ready(t, c, i)
	if got := toRDS(m, awsproxy.Writes); !slices.Equal(got, []string{"ModifyDBInstance"}) ||
		bound(t, c, i)["password"] != after {
		t.Errorf("rotated by %v", got)
	}
}

func TestRDSManagesAPassword(t *testing.T) {
	c := withOperator(t)
	i := databaseOf(team(t, c), "managed", func(s *v1alpha1.RDSInstanceSpec) { s.ManageMasterUserPassword = true })
	createReady(t, c, i)
	if b := bound(t, c, i); b["password"] != "" || b["secret-arn"] == "" ||
		b["secret-arn"] != i.Status.MasterUserSecretARN {
		t.Errorf("secret %s", b["secret-arn"])
	}
	edit(t, c, i, func(i *v1alpha1.RDSInstance) { i.Spec.ManageMasterUserPassword = false })
	ready(t, c, i)
	if b := bound(t, c, i); b["password"] == "" || b["secret-arn"] != "" {
		t.Errorf("the binding has a password: %v, the ARN %q, want true, none", b["password"] != "", b["secret-arn"])
	}
	if s := inRDS(t, i).MasterUserSecret; s != nil {
		t.Errorf("MasterUserSecret = %v, want nil: the password came back from RDS", s)
	}
}

func TestADeletedDatabaseLivesOnInItsFinalSnapshot(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	i := databaseOf(ns, "old", func(s *v1alpha1.RDSInstanceSpec) { s.FinalSnapshotIdentifier = ns + "-farewell" })
	createReady(t, c, i)
	gone(t, c, i)
	if inRDS(t, i) != nil {
		t.Fatal("the database is still there")
	}
	from := func(s *v1alpha1.RDSInstanceSpec) {
		s.RestoreFrom, s.DBName, s.AllocatedStorage = &v1alpha1.RDSRestoreFrom{SnapshotIdentifier: ns + "-farewell"},
			"", 30
		s.ApplyImmediately = true
	}
	stranger := databaseOf(team(t, c), "stolen", from)
	create(t, c, stranger)
	if got := reason(t, c, stranger, "SnapshotNotAllowed"); !strings.Contains(got.Message, "nothing was created") {
		t.Errorf("message %q", got.Message)
	}
	again := databaseOf(ns, "new", from)
	createReady(t, c, again)
	b := bound(t, c, again)
	if again.Status.AllocatedStorage != 30 || b["database"] != "ledger" || len(b["password"]) < 30 {
		t.Errorf("%d GiB, database %s", again.Status.AllocatedStorage, b["database"])
	}
}

func TestRetainKeepsADatabaseAndTheSameNameTakesItBack(t *testing.T) {
	c := withOperator(t)
	retain := func(s *v1alpha1.RDSInstanceSpec) { s.DeletionPolicy = v1alpha1.DeletionRetain }
	i := databaseOf(team(t, c), "kept", retain)
	createReady(t, c, i)
	first, uid := bound(t, c, i)["password"], string(i.UID)
	gone(t, c, i)
	if inRDS(t, i) == nil {
		t.Fatal("the database is gone")
	}
	m := world.Proxy.Mark()
	again := databaseOf(i.Namespace, "kept", retain)
	createReady(t, c, again)
	db := inRDS(t, again)
	for _, tag := range db.TagList {
		if *tag.Key == "portico.dev/uid" && *tag.Value == uid {
			t.Error("the tags were not renewed")
		}
	}
	if slices.Contains(toRDS(m), "CreateDBInstance") || bound(t, c, again)["password"] == first {
		t.Errorf("taken back by %v", toRDS(m, awsproxy.Writes))
	}
}

func TestAChangeOfClassWaitsForTheWindow(t *testing.T) {
	c := withOperator(t)
	i := databaseOf(team(t, c), "patient")
	createReady(t, c, i)
	edit(t, c, i, func(i *v1alpha1.RDSInstance) { i.Spec.DBInstanceClass = "db.m5.large" })
	ready(t, c, i)
	if i.Status.PendingModifiedValues["dbInstanceClass"] != "db.m5.large" || i.Status.InstanceClass != "db.t4g.micro" {
		t.Errorf("pending %v, class %s", i.Status.PendingModifiedValues, i.Status.InstanceClass)
	}
	edit(t, c, i, func(i *v1alpha1.RDSInstance) { i.Spec.ApplyImmediately = true })
	ready(t, c, i)
	if len(i.Status.PendingModifiedValues) > 0 || i.Status.InstanceClass != "db.m5.large" {
		t.Errorf("pending %v, class %s", i.Status.PendingModifiedValues, i.Status.InstanceClass)
	}
}

// AWS adds paid Extended Support to new and restored databases by default.
func TestADatabaseHasNoExtendedSupportUnlessItIsAskedFor(t *testing.T) {
	const on, off = "open-source-rds-extended-support", "open-source-rds-extended-support-disabled"
	c := withOperator(t)
	ns := team(t, c)
	i := databaseOf(ns, "frugal", func(s *v1alpha1.RDSInstanceSpec) { s.FinalSnapshotIdentifier = ns + "-frugal" })
	createReady(t, c, i)
	if is := aws.ToString(inRDS(t, i).EngineLifecycleSupport); is != off {
		t.Errorf("created with %s", is)
	}
	edit(t, c, i, func(i *v1alpha1.RDSInstance) { i.Spec.EngineLifecycleSupport = on })
	ready(t, c, i)
	edit(t, c, i, func(i *v1alpha1.RDSInstance) { i.Spec.EngineLifecycleSupport = "" })
	ready(t, c, i)
	if is := aws.ToString(inRDS(t, i).EngineLifecycleSupport); is != on {
		t.Errorf("asked for and then left alone, it is %s", is)
	}
	gone(t, c, i)
	again := databaseOf(ns, "again", func(s *v1alpha1.RDSInstanceSpec) {
		s.RestoreFrom, s.DBName = &v1alpha1.RDSRestoreFrom{SnapshotIdentifier: ns + "-frugal"}, ""
	})
	createReady(t, c, again)
	if is := aws.ToString(inRDS(t, again).EngineLifecycleSupport); is != off {
		t.Errorf("restored with %s", is)
	}
}

// RDS may describe a database without its tags, which say who owns it.
func TestADatabaseIsKnownThoughItsTagsAreLeftOut(t *testing.T) {
	c := withOperator(t)
	world.Proxy.HideDatabaseTags(true)
	t.Cleanup(func() { world.Proxy.HideDatabaseTags(false) })
	i := databaseOf(team(t, c), "tagless")
	createReady(t, c, i)
	m := world.Proxy.Mark()
	annotate(t, c, i, v1alpha1.AnnotationReconcileRequestedAt, "1")
	await(t, "a pass on request", func() (bool, string) { got := toRDS(m); return len(got) > 1, fmt.Sprint(got) })
	ready(t, c, i)
	if got := toRDS(m); !slices.Equal(got, []string{"DescribeDBInstances", "ListTagsForResource"}) {
		t.Errorf("a check at rest called %v", got)
	}
}

// AWS allows one storage change in six hours. Other changes in the meantime are applied and published.
func TestASecondChangeOfStorageHoldsNothingUp(t *testing.T) {
	c := withOperator(t)
	t.Cleanup(func() { world.Proxy.SetStorageCooldown(6 * time.Hour) })
	i := databaseOf(team(t, c), "growing", func(s *v1alpha1.RDSInstanceSpec) { s.ApplyImmediately = true })
	createReady(t, c, i)
	edit(t, c, i, func(i *v1alpha1.RDSInstance) { i.Spec.AllocatedStorage = 30 })
	ready(t, c, i)
	first := bound(t, c, i)["password"]
	edit(t, c, i, func(i *v1alpha1.RDSInstance) {
		i.Spec.AllocatedStorage, i.Spec.BackupRetentionPeriod = 40, aws.Int32(9)
		i.Annotations = map[string]string{v1alpha1.AnnotationRotatePassword: "today"}
	})
	got := reason(t, c, i, v1alpha1.ReasonStorageOptimizing)
	until := i.Status.StorageChangeTime.Add(6 * time.Hour).UTC().Format("2006-01-02 15:04 UTC")
	if !strings.Contains(got.Message, "the database works") || !strings.Contains(got.Message, until) ||
		!strings.Contains(got.Message, "nothing has to be done") {
		t.Errorf("message %q", got.Message)
	}
	if db := inRDS(t, i); *db.AllocatedStorage != 30 || *db.BackupRetentionPeriod != 9 {
		t.Errorf("%d GiB, backups of %d days", *db.AllocatedStorage, *db.BackupRetentionPeriod)
	}
	if is := bound(t, c, i)["password"]; is == first || i.Status.PasswordRotation != "today" {
		t.Error("the new password is not published")
	}
	world.Proxy.SetStorageCooldown(0)
	annotate(t, c, i, v1alpha1.AnnotationReconcileRequestedAt, "1")
	ready(t, c, i)
	if db := inRDS(t, i); *db.AllocatedStorage != 40 {
		t.Errorf("afterwards %d GiB", *db.AllocatedStorage)
	}
}

// RDS does not document how many identifiers its filter takes. Portico reduces the number until RDS accepts it, and
// does not conclude that a database is gone.
func TestDatabasesAreReadByAFilterOfFewValues(t *testing.T) {
	calm(t)
	c := withOperator(t)
	world.Proxy.SetDatabaseFilterLimit(1)
	t.Cleanup(func() { world.Proxy.SetDatabaseFilterLimit(0) })
	ns, m := team(t, c), world.Proxy.Mark()
	var all []*v1alpha1.RDSInstance
	for n := range 4 {
		i := databaseOf(ns, fmt.Sprintf("one-of-%d", n))
		create(t, c, i)
		all = append(all, i)
	}
	for _, i := range all {
		ready(t, c, i)
	}
	refused := func() int {
		return len(world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), func(call awsproxy.Call) bool {
			return call.Operation == "DescribeDBInstances" && call.ErrorCode == "InvalidParameterValue"
		}))
	}
	await(t, "a filter with more than one value", func() (bool, string) {
		var wakes sync.WaitGroup // at once, because a batch waits only briefly for others
		for _, i := range all {
			wakes.Go(func() { wakeNow(t, c, i) })
		}
		wakes.Wait()
		return refused() > 0, "all were read alone"
	})
	for _, i := range all {
		atRest(t, c, i)
		ready(t, c, i)
		if inRDS(t, i) == nil {
			t.Errorf("%s is gone", i.Name)
		}
	}
	if got := toRDS(m, awsproxy.Writes); len(got) != len(all) {
		t.Errorf("writes %v", got)
	}
}
