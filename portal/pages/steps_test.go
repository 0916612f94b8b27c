package pages

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/portal/phase"
)

func TestStepsSayWhichFinalizerWaits(t *testing.T) {
	f := busySite(t)
	obj := f.objects[3] // import-tmp, being deleted
	r := resourceOf(space{}, f.kinds.Requestable()[0], obj, noon)
	var all []string
	for _, s := range stepsOf(phase.FactsOf(obj), obj, f.kinds.Requestable()[0], r, noon) {
		all = append(all, s.Title+": "+s.State)
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{"Requested: done", "Deleting its AWS resources: in progress", "Waiting for example.org/backup: in progress"} {
		if !strings.Contains(got, want) {
			t.Errorf("the steps lack %q:\n%s", want, got)
		}
	}
}

// The page says how many steps are done above as many steps as it counts.
func TestTheCountIsOfTheStepsShown(t *testing.T) {
	for name, c := range map[string]struct {
		site func(testing.TB) *fakeCluster
		path string
		want string
	}{
		"a hostname that answers":      {hostnameSite, atHostnames + "shop", "8 of 8 done"},
		"a hostname on its way":        {hostnameSite, atHostnames + "pay", "4 of 8 done"},
		"a hostname that is taken":     {hostnameSite, atHostnames + "lost", "1 of 8 done"},
		"a web app that is rolled out": {hostnameSite, "/teams/payments/webapps/storefront", "2 of 7 done"},
		"a bucket, which has no steps": {busySite, "/teams/payments/s3buckets/invoices", "latest change applied"},
		"one that is being deleted":    {hostnameWith(leavingHostname), atHostnames + "shop", "8 of 9 done"},
	} {
		t.Run(name, func(t *testing.T) {
			html := visit(t, c.site(t), developer, c.path).Body.String()
			_, card, _ := strings.Cut(html, "<h2>Progress</h2>")
			card, _, _ = strings.Cut(card, "</ol>")
			if !strings.Contains(card, ">"+c.want+"<") {
				t.Fatalf("the page does not say %q:\n%s", c.want, card)
			}
			var done, of int
			if _, err := fmt.Sscanf(c.want, "%d of %d", &done, &of); err != nil {
				return
			}
			if n := strings.Count(card, "<li>"); n != of {
				t.Errorf("%d steps stand below %q", n, c.want)
			}
			if n := strings.Count(card, `<span class="hush">done</span>`); n != done {
				t.Errorf("%d done steps stand below %q", n, c.want)
			}
		})
	}
}

func leavingHostname(f *fakeCluster) {
	f.objects[0].SetDeletionTimestamp(&metav1.Time{Time: noon})
}
