package form

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/web/views"
)

func TestARequestIsSaidInASentence(t *testing.T) {
	for _, c := range []struct{ kind, spec, want, also string }{
		{
			"RDSInstance", "{engine: postgres, engineVersion: '16', dbInstanceClass: db.t3.micro, allocatedStorage: " +
				"20, backupRetentionPeriod: 7, port: 5433, deletionPolicy: Delete, providerRef: {name: main}}",
			"Database: postgres 16, on db.t3.micro, with 20 GiB, private, encrypted, backed up for 7 days, deleted " +
				"with a final snapshot when you delete it here.", "Port 5433",
		},
		{
			"RDSInstance", "{engine: mysql, dbInstanceClass: db.t3.micro, allocatedStorage: 20, maxAllocatedStorage: " +
				"100, backupRetentionPeriod: 0, multiAZ: true, publiclyAccessible: true, deletionPolicy: Retain, " +
				"tags: {b: '2', a: '1'}}",
			"Database: mysql in the version that AWS prefers, on db.t3.micro, with 20 GiB that grow up to 100 GiB, " +
				"with a standby in another zone, reachable from the internet, encrypted, without backups, kept in " +
				"AWS when you delete it here.", "Tags a=1, b=2",
		},
		{
			"RDSInstance", "{engine: postgres, dbInstanceClass: db.t3.micro, allocatedStorage: 20, restoreFrom: " +
				"{snapshotIdentifier: ledger-final}, deletionPolicy: Delete}",
			"Database: postgres in the version of the snapshot, with the data of the snapshot, on db.t3.micro, with " +
				"20 GiB, private, deleted with a final snapshot when you delete it here.",
			"Restore from snapshot identifier ledger-final",
		},
		{
			"S3Bucket", "{versioning: Enabled, forceDestroy: true, lifecycleRules: [{id: old, expirationDays: 30}, " +
				"{id: older, prefix: logs/}]}",
			"Bucket: with a name that Portico picks, with old versions of objects kept, closed to the public, " +
				"deleted with all objects in it when you delete it here.", "Lifecycle rules",
		},
		{
			"EC2Instance", "{instanceType: t3.micro, imageSSMParameter: /x, securityGroupIDs: [sg-1, sg-2], state: " +
				"Running}", "Virtual machine: t3.micro, from the image that /x names, terminated when you delete " +
				"it here.",
			"Security group IDs sg-1, sg-2",
		},
		{
			"SQSQueue", "{queueName: jobs.fifo, fifoQueue: true, deadLetterQueue: {targetRef: {name: lost}, " +
				"maxReceiveCount: 3}}", "Message queue: named jobs.fifo, in strict order (FIFO), with a dead-letter " +
				"queue, deleted with its messages when you delete it here.",
			"Dead letter queue max receive count 3, target lost",
		},
		{
			"WebApp", "{image: 'example.com/shop:1', replicas: 3, port: 8080, bindings: [{kind: S3Bucket, name: " +
				"files}]}",
			"Web app: example.com/shop:1, 3 replicas, listening on port 8080, inside the cluster only.",
			"Bindings kind S3Bucket, name files",
		},
		{
			"GatewayHostnameRequest", "{hostname: shop.example.com, zoneId: Z1, environment: prod}",
			"Hostname: shop.example.com, reachable from the internet, for the environment prod, in the hosted zone Z1.",
			"",
		},
		{"DatabaseUser", "{databaseRef: {name: ledger}, access: Read}", "Database user: in the database ledger, that reads, signing in with a password, dropped when you delete it here.", ""},
		{
			"S3Bucket", "{bucketName: theirs, adoptionPolicy: Adopt, managementPolicy: Observe}",
			"Bucket: named theirs, only observed: Portico changes and deletes nothing in AWS.",
			"Adoption policy Adopt",
		},
		{"EC2Instance", "{instanceType: t3.micro, disableApiTermination: true}", "Virtual machine: t3.micro, protected from deletion.", ""},
		{"Team", "{title: Growth, members: [{users: [a]}]}", "", "Title Growth"},
	} {
		k, _ := catalogtest.Kinds(t).ByName(c.kind)
		obj, err := Parse(k, "apiVersion: portico.dev/v1alpha1\nkind: "+c.kind+"\nmetadata: {name: x}\nspec: "+c.spec)
		if err != nil {
			t.Fatal(err)
		}
		s := subject{kind: k}
		got, told := s.sentence(obj)
		if got != c.want {
			t.Errorf("%s says\n%s, want\n%s", c.kind, got, c.want)
		}
		if also := fmt.Sprint(s.settings(obj, told)); !strings.Contains(also, c.also) {
			t.Errorf("%s: also %s, want %s", c.kind, also, c.also)
		}
	}
}

// Every field of every kind is shown, by the sentence or the settings, and sentences use existing fields only.
func TestEveryFieldIsTold(t *testing.T) {
	for _, k := range catalogtest.Kinds(t) {
		requested := k.Namespaced && k.KeptBy == "" && k.Name != "HostnameGrant"
		if requested && len(k.Says) == 0 {
			t.Errorf("%s has no annotation portico.dev/says", k.Name)
		}
		for _, c := range k.Says {
			for _, p := range c {
				for _, name := range p.Fields() {
					if !k.Has(name) {
						t.Errorf("%s says %q of %s, which is no field", k.Name, p.Text, name)
					}
				}
			}
		}
		for _, f := range k.Fields() {
			obj, err := Parse(k, "apiVersion: portico.dev/v1alpha1\nkind: "+k.Name+"\nmetadata: {name: x}\nspec: {}")
			if err != nil {
				t.Fatal(err)
			}
			obj.Object["spec"] = map[string]any{f.Name: sample(f)}
			s := subject{kind: k}
			text, told := s.sentence(obj)
			beside := slices.ContainsFunc(s.settings(obj, told), func(v views.Value) bool {
				return v.Label == f.Label && v.Text != ""
			})
			if !beside && (!slices.Contains(told, f.Name) || text == "") {
				t.Errorf("%s of %s is not told: %s", f.Name, k.Name, text)
			}
		}
	}
}

// sample returns a possible value of a field other than its default.
func sample(f catalog.Field) any {
	switch f.Type {
	case catalog.Boolean:
		return f.Default != "true"
	case catalog.Integer, catalog.Number:
		return int64(7)
	case catalog.Array:
		return []any{sample(*f.Items)}
	case catalog.Object:
		all := map[string]any{}
		for _, m := range f.Fields {
			all[m.Name] = sample(m)
		}
		return all
	case catalog.Map:
		return map[string]any{"key": "value"}
	default:
		for _, o := range f.Options {
			if o != f.Default {
				return o
			}
		}
		return "text"
	}
}

func TestAnEditIsSaidFieldByField(t *testing.T) {
	k, _ := catalogtest.Kinds(t).ByName("SQSQueue")
	read := func(spec string) *unstructured.Unstructured {
		obj, err := Parse(k, "apiVersion: portico.dev/v1alpha1\nkind: SQSQueue\nmetadata: {name: x}\nspec: "+spec)
		if err != nil {
			t.Fatal(err)
		}
		return obj
	}
	got := fmt.Sprint(subject{kind: k}.changed(read("{delaySeconds: 5, visibilityTimeout: 30, tags: {a: '1'}}"),
		read("{delaySeconds: 10, fifoQueue: true, tags: {a: '1'}}")))
	for _, want := range []string{"from 5 seconds to 10 seconds", "removed; it was 30 seconds", "set to yes"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %q", got, want)
		}
	}
	if strings.Contains(got, "Tags") {
		t.Errorf("%s tells of what stays", got)
	}
}
