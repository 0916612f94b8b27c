package pages

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestTheReviewOfWhatIsBeingDeletedTellsTheTruth(t *testing.T) {
	const at = "/teams/payments/s3buckets/import-tmp/edit"
	f := busySite(t)
	page := visit(t, f, developer, at).Body.String()
	lacks(t, page, "import-tmp is being deleted. An edit does not cancel that.",
		"Deletion policy, Force destroy, Management policy.")
	review := post(t, f, at, pressing(t, page, "review", "spec.forceDestroy", "false")).Body.String()
	lacks(t, review, "import-tmp is being deleted, and an edit does not cancel that.",
		"If anything is stored in it, it is not deleted")
	if strings.Contains(review, "Nothing changes now") {
		t.Errorf("the review says that nothing changes now:\n%s", review)
	}
	if w := post(t, f, at, pressing(t, review, "create")); w.Header().Get(
		"Location") != "/teams/payments/s3buckets/import-tmp?applied=4" {
		t.Errorf("what stays for a while leads to %q", w.Header().Get("Location"))
	}
	for i, o := range f.objects {
		if o.GetName() == "import-tmp" {
			unstructured.RemoveNestedField(f.objects[i].Object, "status", "accountID")
		}
	}
	page = visit(t, f, developer, at).Body.String()
	if w := post(t, f, at, pressing(t, page, "create", "spec.versioning", "Enabled")); w.Header().Get(
		"Location") != "/teams/payments" {
		t.Errorf("what goes at once leads to %q", w.Header().Get("Location"))
	}
	if page := visit(t, f, developer, editing1).Body.String(); strings.Contains(page, "is being deleted") {
		t.Error("the form of another bucket says so too")
	}
}
