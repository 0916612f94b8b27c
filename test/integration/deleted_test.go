//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/stack"
)

// deletedIn asks an operator what AWS has of the deleted objects of a namespace, until done accepts the result.
func (o *inspected) deletedIn(t *testing.T, ns string, done func(operatorapi.DeletedList) bool) (
	got operatorapi.DeletedList,
) {
	t.Helper()
	token := accountToken(t, stack.Namespace, "portico-portal", operatorapi.Audience)
	await(t, "the list of what was deleted", func() (bool, string) {
		got = operatorapi.DeletedList{}
		status, body := o.get(t, operatorapi.NamespaceDeletedPath(ns), token)
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
			t.Fatalf("%d, %v: %s", status, err, body)
		}
		return !got.Pending && done(got), body
	})
	return got
}

// Retained resources, and the final snapshot of a database, are listed with a request that restores them, with the
// permissions of docs/iam. Another team's are not in the list.
func TestWhatIsLeftOfDeletedResourcesIsListed(t *testing.T) {
	o := startInspected(t)
	ns, neighbour := team(t, o), team(t, o)
	p := account(t, o, "230000000081")
	in := func(obj external.Object) external.Object {
		spec, _ := obj.AWS()
		spec.ProviderRef.Name = p.Name
		return obj
	}
	kept := func(obj external.Object) external.Object {
		retain(obj)
		return in(obj)
	}
	picked := bucketOf(ns, "picked")
	picked.Spec.BucketName = ""
	all := []external.Object{
		kept(bucketOf(ns, "named")), kept(picked), kept(queues.object(ns, "letters")), kept(topics.object(ns, "news")),
		kept(machineOf(ns, "builder")), kept(databaseOf(ns, "kept")), in(databaseOf(ns, "ledger")),
		kept(bucketOf(neighbour, "theirs")),
	}
	stays := in(bucketOf(ns, "stays"))
	for _, obj := range append(all, stays) {
		create(t, o, obj)
	}
	ready(t, o, stays)
	for _, obj := range all {
		ready(t, o, obj)
	}
	for _, obj := range all {
		gone(t, o, obj)
	}

	want := []string{
		"EC2Instance builder instanceName instanceType", "RDSInstance kept allocatedStorage dbInstanceClass engine " +
			"masterUsername",
		"RDSInstance ledger snapshot allocatedStorage engine masterUsername restoreFrom.snapshotIdentifier",
		"S3Bucket named bucketName", "S3Bucket picked", "SNSTopic news", "SQSQueue letters",
	}
	got := o.deletedIn(t, ns, func(list operatorapi.DeletedList) bool { return len(list.Items) >= len(want) })
	var lines []string
	for _, d := range got.Items {
		line := d.Kind + " " + d.Name
		if d.Snapshot {
			line += " snapshot"
		}
		delete(d.Fields, "imageID") // the simulator always has these two
		delete(d.Fields, "subnetID")
		for _, field := range slices.Sorted(maps.Keys(d.Fields)) {
			line += " " + field
		}
		lines = append(lines, line)
		if d.Provider != p.Name || d.Account != "230000000081" || d.Region == "" {
			t.Errorf("%s: Provider = %q, Account = %q, Region = %q; want %s, 230000000081, any", line, d.Provider,
				d.Account, d.Region, p.Name)
		}
		if d.ID == "" || !strings.HasPrefix(d.ARN, "arn:aws:") {
			t.Errorf("%s: ID = %q, ARN = %q; want both", line, d.ID, d.ARN)
		}
		if d.NameInUse || (d.Snapshot && d.Taken == nil) {
			t.Errorf("%s: NameInUse = %v, Taken = %v; want false, the time of a snapshot", line, d.NameInUse, d.Taken)
		}
	}
	if !slices.Equal(lines, want) || len(got.Problems) > 0 {
		t.Errorf("%q, want %q; problems %v", lines, want, got.Problems)
	}

	// The same request adopts a retained resource, which leaves the list; and an existing object with the deleted
	// database's name is reported.
	again := kept(bucketOf(ns, "named"))
	create(t, o, again)
	ready(t, o, again)
	restored := in(databaseOf(ns, "ledger", func(s *v1alpha1.RDSInstanceSpec) {
		s.RestoreFrom, s.DBName = &v1alpha1.RDSRestoreFrom{SnapshotIdentifier: got.Items[2].ID}, ""
	}))
	create(t, o, restored)
	ready(t, o, restored)
	got = o.deletedIn(t, ns, func(list operatorapi.DeletedList) bool { return len(list.Items) == len(want)-1 })
	for _, d := range got.Items {
		if d.Name == "named" || d.NameInUse != d.Snapshot {
			t.Errorf("%+v", d)
		}
	}
}

// An account that does not answer is reported next to the others' results.
func TestAnAccountThatTellsNothingOfDeletedResourcesIsNamed(t *testing.T) {
	o := startInspected(t)
	ns := team(t, o)
	b := bucketOf(ns, "left")
	b.Spec.DeletionPolicy = v1alpha1.DeletionRetain
	createReady(t, o, b)
	gone(t, o, b)
	p := account(t, o, "230000000082")
	t.Cleanup(world.Proxy.AttachPolicies(stack.RoleARN("230000000082"), iampolicy.Policies{}))
	got := o.deletedIn(t, ns, func(list operatorapi.DeletedList) bool {
		return len(list.Items) > 0 && len(list.Problems) > 0
	})
	said := fmt.Sprint(got.Problems)
	if name := got.Items[0].Name; name != "left" {
		t.Errorf("Name = %q, want left", name)
	}
	if !strings.Contains(said, p.Name) || !strings.Contains(said, "tag:GetResources") {
		t.Errorf("Problems = %s, want %s and tag:GetResources in it", said, p.Name)
	}
	if strings.Contains(said, "Provider") {
		t.Errorf("Problems = %s, want no kind in it", said)
	}
}
