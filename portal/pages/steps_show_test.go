package pages

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The number of steps that the page shows as done matches the steps below it.
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

// The sentence at the top of the page is not repeated by the step that blocks the object.
func TestWhatIsInTheWayIsSaidOnce(t *testing.T) {
	for name, c := range map[string]struct {
		site           func(testing.TB) *fakeCluster
		path, sentence string
	}{
		"a rollout":                 {shopSite, atShop, "1 of 3 Pods run the new version."},
		"a hostname that is taken":  {hostnameSite, atHostnames + "lost", "Another team has taken.payments.example.com"},
		"a bucket that cannot go":   {busySite, "/teams/payments/s3buckets/import-tmp", "Emptying the bucket: 12400"},
		"a bucket that was refused": {busySite, "/teams/payments/s3buckets/ledger-archive", "is taken by somebody else"},
	} {
		html := mainOf(t, visit(t, c.site(t), developer, c.path).Body.String())
		status, rest, _ := strings.Cut(html, `id="tabs"`)
		steps, _, _ := strings.Cut(after(rest, "<h2>Progress</h2>"), "</ol>")
		if !strings.Contains(status, c.sentence) {
			t.Errorf("%s: the status does not say %q:\n%s", name, c.sentence, status)
		}
		if strings.Contains(steps, c.sentence) {
			t.Errorf("%s: the steps say %q again:\n%s", name, c.sentence, steps)
		}
	}
}
