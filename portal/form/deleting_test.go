package form

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

// An edit of an object that is being deleted decides over data, and at once: its effects are described.
func TestAnEditOfWhatIsBeingDeletedIsToldAsItIs(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	made := map[string]any{"accountID": "123456789012", "arn": "arn:aws:x", "binding": map[string]any{
		"name": "x-binding",
	}}
	with := func(more map[string]any) map[string]any {
		all := maps.Clone(made)
		maps.Copy(all, more)
		return all
	}
	reason := func(r string) map[string]any {
		return with(map[string]any{
			"conditions": []any{map[string]any{"type": "Ready", "status": "False", "reason": r, "message": "m"}},
		})
	}
	const atOnce, later, decides, nothing = "shop disappears from Portico and from the cluster at once.",
		"from the cluster when that is done.", "this decides at once", "changes nothing about it"
	for name, row := range map[string]struct {
		kind    string
		spec    map[string]any // that would be stored
		changed string
		status  map[string]any
		says    []string
		not     string
	}{
		"a bucket is kept": {
			"S3Bucket",
			map[string]any{"deletionPolicy": "Retain"},
			"deletionPolicy",
			made,
			[]string{decides, "arn:aws:x and its data stay", atOnce, "x-binding"},
			"Deleted from AWS",
		},
		"a bucket is let go": {"S3Bucket", map[string]any{"deletionPolicy": "Orphan"}, "deletionPolicy", made, []string{decides, "without Portico's tags", atOnce}, "Deleted from AWS"},
		"a bucket is only observed": {
			"S3Bucket",
			map[string]any{"deletionPolicy": "Delete", "managementPolicy": "Observe"},
			"managementPolicy",
			made,
			[]string{decides, "Nothing changes in AWS", atOnce},
			"Deleted from AWS",
		},
		"a bucket goes with its data": {
			"S3Bucket",
			map[string]any{"deletionPolicy": "Delete", "forceDestroy": true},
			"forceDestroy", made,
			[]string{decides, "Permanently deleted from AWS", "every version of every object", later},
			atOnce,
		},
		"a bucket is not emptied any more": {
			"S3Bucket",
			map[string]any{"deletionPolicy": "Delete"},
			"forceDestroy",
			with(map[string]any{"removedObjects": int64(7)}),
			[]string{
				decides, "If anything is stored in it, it is not deleted",
				"7 objects, versions and delete markers are deleted already", later,
			},
			"every version",
		},
		"half a bucket is kept": {
			"S3Bucket",
			map[string]any{"deletionPolicy": "Retain"},
			"deletionPolicy",
			with(map[string]any{"removedObjects": int64(7)}),
			[]string{"7 objects", "do not come back", atOnce},
			"",
		},
		"a bucket that was never made": {
			"S3Bucket",
			map[string]any{"deletionPolicy": "Delete", "forceDestroy": true},
			"forceDestroy", nil,
			[]string{"Nothing is deleted in AWS", atOnce},
			"every version",
		},
		"it is too late": {
			"S3Bucket",
			map[string]any{"deletionPolicy": "Retain"},
			"deletionPolicy",
			reason("Deleting"),
			[]string{"AWS is deleting arn:aws:x already. No change stops that.", atOnce},
			"data stay",
		},
		"a setting that counts no more": {
			"S3Bucket",
			map[string]any{"deletionPolicy": "Delete", "versioning": "Enabled"},
			"versioning", made,
			[]string{nothing, "No effect any more: Versioning.", "it is not deleted", later},
			decides,
		},
		"two settings, of which one counts": {
			"S3Bucket",
			map[string]any{"deletionPolicy": "Retain", "versioning": "Enabled"},
			"deletionPolicy,versioning", made,
			[]string{decides, "No effect any more: Versioning.", atOnce},
			nothing,
		},
		"a queue goes with its messages": {"SQSQueue", map[string]any{"deletionPolicy": "Delete"}, "deletionPolicy", made, []string{decides, "messages in it are lost", later}, ""},
		"a machine is stopped":           {"EC2Instance", map[string]any{"deletionPolicy": "Stop"}, "deletionPolicy", made, []string{decides, "is stopped and stays", later}, "terminated"},
		"a machine is protected": {
			"EC2Instance",
			map[string]any{"deletionPolicy": "Delete", "disableApiTermination": true},
			"disableApiTermination", made,
			[]string{
				decides, "Nothing is deleted while disableApiTermination is on",
				later,
			},
			"terminated",
		},
		"a machine is protected no more": {
			"EC2Instance",
			map[string]any{"deletionPolicy": "Delete", "disableApiTermination": false},
			"disableApiTermination", reason("TerminationProtected"),
			[]string{decides, "The machine is terminated", later},
			"while disableApiTermination",
		},
		"a machine that AWS may protect": {
			"EC2Instance",
			map[string]any{"deletionPolicy": "Delete"},
			"disableApiTermination", made,
			[]string{
				decides, "If AWS protects it against deletion",
				"set disableApiTermination to false",
			},
			"",
		},
		"a database without a snapshot": {
			"RDSInstance", map[string]any{
				"deletionPolicy": "Delete", "skipFinalSnapshot": true,
				"deletionProtection": false,
			}, "skipFinalSnapshot", made, []string{
				decides, "All data is deleted",
				later,
			}, "snapshot is taken",
		},
		"a database with a snapshot": {
			"RDSInstance",
			map[string]any{"deletionPolicy": "Delete", "deletionProtection": false},
			"skipFinalSnapshot",
			made,
			[]string{decides, "A final snapshot is taken first", later},
			"All data goes",
		},
		"a database is protected": {
			"RDSInstance",
			map[string]any{"deletionPolicy": "Delete", "deletionProtection": true},
			"deletionProtection",
			made,
			[]string{decides, "Nothing is deleted while deletionProtection is on", later},
			"snapshot is taken",
		},
		"it is too late for a database": {
			"RDSInstance",
			map[string]any{"deletionPolicy": "Retain"},
			"deletionPolicy",
			func() map[string]any { s := reason("Deleting"); s["finalSnapshotIdentifier"] = "shop-final"; return s }(),
			[]string{"AWS is deleting", "kept in the final snapshot shop-final"},
			"data stay",
		},
		"a web app":                       {"WebApp", map[string]any{"image": "x:2"}, "image", nil, []string{nothing, "The web app stops", "No effect any more: Image."}, "Pods are replaced"},
		"an account, which is still used": {"AWSProvider", map[string]any{"region": "eu-west-1"}, "accessKeyIDRef", made, []string{"still applies until it is gone"}, "disappears"},
	} {
		t.Run(name, func(t *testing.T) {
			k, ok := kinds.ByName(row.kind)
			if !ok {
				t.Fatalf("no kind %s", row.kind)
			}
			s := subject{kind: k, Facts: Facts{Edit: &Edit{Name: "shop"}}}
			obj := &unstructured.Unstructured{Object: map[string]any{"spec": row.spec}}
			if row.status != nil {
				obj.Object["status"] = row.status
			}
			var all []string
			for _, e := range s.deletingEffects(obj, strings.Split(row.changed, ",")) {
				all = append(all, e.Text)
			}
			got := strings.Join(all, "\n")
			for _, want := range row.says {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing:\n%s", want, got)
				}
			}
			if row.not != "" && strings.Contains(got, row.not) {
				t.Errorf("%q is said:\n%s", row.not, got)
			}
		})
	}
}
