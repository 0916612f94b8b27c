package deletion

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/web/views"
)

// TestDeletionIsToldAsItIs: the effects of a deletion are correct for each kind; a wrong text could lead to data loss.
func TestDeletionIsToldAsItIs(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	for _, row := range []struct {
		kind   string
		spec   map[string]any
		short  string
		effect string
	}{
		{"S3Bucket", map[string]any{"deletionPolicy": "Delete"}, "if empty", "it is not deleted"},
		{"S3Bucket", map[string]any{"deletionPolicy": "Delete", "forceDestroy": true}, "with all data", "cannot be undone"},
		{"SQSQueue", map[string]any{"deletionPolicy": "Delete"}, "with all data", "messages in it are lost"},
		{"SQSQueue", map[string]any{"deletionPolicy": "Retain"}, "stays", "its data stay"},
		{"RDSInstance", map[string]any{"deletionPolicy": "Delete"}, "final snapshot", "The snapshot's name is IDENTIFIER-final-"},
		{"RDSInstance", map[string]any{"deletionPolicy": "Delete", "skipFinalSnapshot": true}, "with all data", "cannot be undone"},
		{"EC2Instance", map[string]any{"deletionPolicy": "Delete"}, "with all data", "terminated"},
		{"EC2Instance", map[string]any{"deletionPolicy": "Delete", "disableApiTermination": true}, "with all data", "Nothing is deleted while disableApiTermination is on"},
		{"EC2Instance", map[string]any{"deletionPolicy": "Delete", "disableApiTermination": false}, "with all data", "terminated"},
		{"EC2Instance", map[string]any{"deletionPolicy": "Stop"}, "stopped", "is stopped and stays"},
		{"EC2Instance", map[string]any{"deletionPolicy": "Orphan"}, "no longer managed", "without Portico's tags"},
		{"WebApp", map[string]any{}, "", "The web app stops"},
	} {
		k, ok := kinds.ByName(row.kind)
		if !ok {
			t.Fatalf("no kind %s", row.kind)
		}
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": row.spec}}
		if got := PolicyWords(obj, k.Deletion); !strings.Contains(got, row.short) {
			t.Errorf("%s %v: in short %q, want %q", row.kind, row.spec, got, row.short)
		}
		var all []string
		for _, e := range Effects(obj, k) {
			all = append(all, e.Text)
		}
		if got := strings.Join(all, " "); !strings.Contains(got, row.effect) {
			t.Errorf("%s %v: %q does not say %q", row.kind, row.spec, got, row.effect)
		}
	}
}

// TestWhatStaysInAWSIsNamed: volumes that remain after their instance is deleted cost money, so the confirmation lists
// them, but only with the policy Delete.
func TestWhatStaysInAWSIsNamed(t *testing.T) {
	k, _ := catalogtest.Kinds(t).ByName("EC2Instance")
	for policy, want := range map[string]bool{"Delete": true, "Stop": false, "Retain": false, "Orphan": false} {
		obj := &unstructured.Unstructured{Object: map[string]any{
			"spec": map[string]any{"deletionPolicy": policy},
			"status": map[string]any{
				"accountID": "1", "staysAfterDeletion": []any{
					"volume vol-1 at /dev/sdf (10 GiB)", "volume vol-2 at /dev/sdg",
				},
			},
		}}
		fate, _ := Fate(obj, k)
		for _, all := range [][]views.Effect{Effects(obj, k), fate} {
			told := slices.ContainsFunc(all, func(e views.Effect) bool {
				return strings.Contains(e.Text, "costs money") &&
					strings.Contains(e.Text, "vol-1 at /dev/sdf (10 GiB), volume vol-2")
			})
			if told != want {
				t.Errorf("%s: told %v by %+v", policy, told, all)
			}
		}
	}
}

// TestEveryFieldThatDecidesADeletionCountsWhileItRuns: the operator reads the fields that control a deletion on every
// pass.
func TestEveryFieldThatDecidesADeletionCountsWhileItRuns(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	for _, k := range kinds {
		for _, name := range []string{"deletionPolicy", "managementPolicy", k.Deletion.Lossy, k.Deletion.Protects} {
			if k.Has("deletionPolicy") && k.Has(name) && !Counts(k, name) {
				t.Errorf("%s: %s is missing in the annotation portico.dev/while-deleting", k.Name, name)
			}
		}
		for _, name := range slices.Concat(k.Deletion.Counts, []string{k.Deletion.Protects}) {
			if name != "" && name != EveryField && !k.Has(name) {
				t.Errorf("%s has no field %s, which an annotation names", k.Name, name)
			}
		}
	}
}

// TestWhatCanStillBeKept: a deletion can be cancelled while it waits, and not once AWS has started it.
func TestWhatCanStillBeKept(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	leaving := map[string]any{"deletionTimestamp": "2026-01-02T03:04:05Z"}
	asked := map[string]any{"deletionTimestamp": "2026-01-02T03:04:05Z", "annotations": map[string]any{
		"portico.dev/keep": "true",
	}}
	made := func(reason string) map[string]any {
		return map[string]any{"accountID": "1", "conditions": []any{
			map[string]any{"type": "Ready", "status": "False", "reason": reason},
		}}
	}
	for name, row := range map[string]struct {
		kind             string
		metadata, status map[string]any
		may, kept        bool
	}{
		"it waits":              {"S3Bucket", leaving, made("BucketNotEmpty"), true, false},
		"AWS is at it":          {"RDSInstance", leaving, made("Deleting"), false, false},
		"it was asked for":      {"S3Bucket", asked, made("BucketNotEmpty"), false, true},
		"nothing is in AWS":     {"S3Bucket", leaving, map[string]any{}, false, false},
		"it is not deleted":     {"S3Bucket", map[string]any{}, made("InSync"), false, false},
		"it is no AWS resource": {"GatewayHostnameRequest", leaving, made("Releasing"), false, false},
	} {
		k, _ := kinds.ByName(row.kind)
		obj := &unstructured.Unstructured{Object: map[string]any{"metadata": row.metadata, "status": row.status}}
		if may, kept := MayKeep(obj, k), Kept(obj); may != row.may || kept != row.kept {
			t.Errorf("%s: may be kept %v, is kept %v", name, may, kept)
		}
	}
}
