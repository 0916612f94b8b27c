//go:build browser

package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

const (
	teams    = "/admin/teams"
	newTeam  = "/admin/teams/new"
	ofGrowth = "/team/growth"
)

// hand counts the clicks and fields of a user in a tab.
type hand struct {
	*tab
	clicks, fields int
}

func (h *hand) press(selector string) {
	h.t.Helper()
	// not during a change of pages
	h.do(chromedp.WaitVisible(chromedp.CSS(selector)))
	// away from the bar at the bottom
	_ = eval[bool](h.tab, `(document.querySelector('`+selector+`').scrollIntoView({block: "center"}), true)`)
	h.click(selector)
	h.clicks++
}

func (h *hand) enters(name, text string) {
	h.t.Helper()
	h.fill(`[name="`+name+`"]`, text)
	h.fields++
}

func (h *hand) picks(name, value string) {
	h.t.Helper()
	h.do(chromedp.WaitVisible(chromedp.CSS(`[name="` + name + `"]`)))
	h.choose(name, value)
	h.fields++
}

// TestAnAdminOnboardsATeam creates a team and its first Ready bucket in the browser. The admin has portico-admin and no
// other role; nobody uses kubectl.
func TestAnAdminOnboardsATeam(t *testing.T) {
	began := time.Now()
	admin := &hand{tab: open(t)}
	admin.signIn("platform-admin", "payments")
	admin.goTo(teams)
	admin.await(`#platform`, "payments")
	admin.every("admin-teams")
	admin.makesGrowth()
	made := time.Now()

	dev := &hand{tab: open(t)}
	dev.signIn("growth-dev", "growth")
	dev.goTo(ofGrowth)
	dev.await(`#team-members`, "team-growth")
	if got := dev.text(`main`); got == "" || dev.text(`#add-member`) != "" {
		t.Errorf("a developer is offered to change members:\n%s", got)
	}
	dev.requestsBucket()
	ready := time.Now()
	t.Logf("to a Ready team: %d clicks, %d fields; to the first Ready bucket: %d clicks, %d fields more", admin.clicks,
		admin.fields, dev.clicks, dev.fields)
	t.Logf("a Ready team after %.1f s of a robot's time, with pictures taken on the way if asked for, a Ready bucket "+
		"after %.1f s more", made.Sub(began).Seconds(), ready.Sub(made).Seconds())

	admin.suspendsGrowth(dev)
	admin.goTo("/teams/_platform/teams/growth")
	admin.await(`#status`, "Ready")
	admin.every("team-details")
	admin.goTo("/teams/_platform/teams/growth/edit")
	admin.await(`main`, "AWS accounts")
	admin.every("edit-team")
	admin.cannotDeleteGrowth()
	dev.isOfferedWhatIsAllowed()
}

// isOfferedWhatIsAllowed checks that a form offers only what the team's guardrails allow, and starts with the team's
// defaults.
func (h *hand) isOfferedWhatIsAllowed() {
	h.t.Helper()
	all := dynamic.NewForConfigOrDie(world.Admin).Resource(v1alpha1.GroupVersion.WithResource("teams"))
	rules := []byte(
		`{"spec":{"guardrails":{"allowedEngines":[{"engine":"postgres"}]},"defaults":{"deletionPolicy":"Retain"}}}`)
	if _, err := all.Patch(h.t.Context(), "growth", types.MergePatchType, rules, metav1.PatchOptions{}); err != nil {
		h.t.Fatal(err)
	}
	h.awaitAt("/teams/growth/new/rdsinstances", "allowedEngines of Team growth allows postgres")
	const offered = `[...document.querySelectorAll('[name="spec.engine"] option')].map(o => o.value).filter(Boolean).join()`
	if got := eval[string](h.tab, offered); got != "postgres" {
		h.t.Errorf("the form offers the engines %q, and the team may have postgres alone", got)
	}
	if got := eval[string](h.tab, `document.querySelector('[name="spec.deletionPolicy"]').value`); got != "Retain" {
		h.t.Errorf("the form begins with the deletion policy %q, and the team wants Retain", got)
	}
}

// makesGrowth fills in the form, is refused where it is wrong, and waits until the team is Ready.
func (h *hand) makesGrowth() {
	h.t.Helper()
	h.press(`a[href="` + newTeam + `"]`)
	h.awaitPath(newTeam)
	h.enters("metadata.name", "payments")
	h.enters("spec.title", "Growth and Marketing")
	h.enters("spec.contact", "growth@portico.test")
	h.enters("spec.members[0].group", "team-growth")
	h.press(`.go button[value="review"]`)
	h.await(`#problems`, "is taken")
	h.enters("metadata.name", "growth")
	h.press(`button[value="add spec.quotas.resources"]`)
	h.picks("spec.quotas.resources[0].kind", "S3Bucket")
	h.enters("spec.quotas.resources[0].max", "5")
	h.every("new-team")
	h.press(`.go button[value="review"]`)
	h.await(`main`, "The group team-growth can request, change and delete resources.")
	h.await(`main`, "It can use the AWS account "+stack.Provider)
	h.every("new-team-review")
	h.press(`button[value="create"]`)
	h.awaitPath(ofGrowth)
	h.await(`#team-status`, "Ready")
	h.await(`#team-status`, "Request the first resource")
	h.await(`#team-progress`, "Namespaces")
	h.every("team")
	if got := h.text(`#team-use`); got == "" {
		h.t.Error("the page does not list the namespace")
	}
}

// requestsBucket goes from the team's page to a Ready bucket.
func (h *hand) requestsBucket() {
	h.t.Helper()
	h.press(`#team-status a.first`)
	h.awaitPath("/teams/growth/catalog")
	h.press(`a[href="/teams/growth/new/s3buckets"]`)
	h.awaitPath("/teams/growth/new/s3buckets")
	h.enters("metadata.name", "first")
	h.press(`.go button[value="review"]`)
	h.await(`main`, "Looks good.")
	h.press(`button[value="create"]`)
	h.awaitPath("/teams/growth/s3buckets/first")
	h.await(`#status`, "Ready")
}

// suspendsGrowth suspends the team and resumes it.
func (h *hand) suspendsGrowth(dev *hand) {
	h.t.Helper()
	h.goTo(ofGrowth)
	h.press(`a[href="` + ofGrowth + `/suspend"]`)
	h.awaitPath(ofGrowth + "/suspend")
	h.every("suspend")
	h.press(`button[value="suspend"]`)
	h.awaitPath(ofGrowth)
	h.await(`#team-status`, "is suspended")
	dev.awaitAt("/teams/growth/catalog", "can view, but not request")
	dev.await(`[data-suspended]`, "growth@portico.test")
	dev.every("suspended")
	dev.goTo("/teams/growth/new/s3buckets")
	dev.await(`main`, "You are not allowed to create s3buckets")
	h.press(`a[href="` + ofGrowth + `/suspend"]`)
	h.awaitPath(ofGrowth + "/suspend")
	h.press(`button[value="resume"]`)
	h.awaitPath(ofGrowth)
	dev.awaitAt("/teams/growth/new/s3buckets", "Describe")
}

// awaitAt opens a page repeatedly until it contains words: permissions take some seconds.
func (h *hand) awaitAt(path, words string) {
	h.t.Helper()
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		h.goTo(path)
		if got := h.text(`main`); strings.Contains(got, words) {
			return
		} else if time.Since(began) > 2*patience {
			h.t.Fatalf("%s says %q, want %q", path, got, words)
		}
	}
}

// cannotDeleteGrowth tries to delete a team that has a bucket, which is refused.
func (h *hand) cannotDeleteGrowth() {
	h.t.Helper()
	h.goTo(ofGrowth)
	h.await(`#team-status`, "You can delete it once it has no resources; it has 1 now")
	h.press(`.head a.danger`)
	h.awaitPath("/teams/_platform/teams/growth/delete")
	h.fill(`#typed`, "growth")
	h.press(`.go button`)
	h.await(`main`, "still has 1 in growth")
}

// TestAnOwnerDecidesWhoTheMembersAre adds a member, changes its role, and removes it; errors are shown beside the
// input.
func TestAnOwnerDecidesWhoTheMembersAre(t *testing.T) {
	x := &hand{tab: open(t)}
	x.signIn("payments-owner", "payments")
	x.goTo("/team/payments")
	x.await(`#team-members`, "payments-owners")
	x.every("members")
	add := func(name string) {
		x.fill(`#member-name`, name)
		x.press(`#add-member button[value="add"]`)
	}
	add("payments-owners")
	x.await(`#member-error`, "is a member already, as Owner")
	x.every("member-refused")
	add("contractors")
	x.await(`#team-members`, "contractors")
	x.do(chromedp.SetValue(chromedp.CSS(`#member-group-f-contractors [name="role"]`), "Viewer"))
	x.press(`#member-group-f-contractors button[value="role"]`)
	x.await(`#member-group-f-contractors`, "can look")
	x.press(`#member-group-f-contractors button[value="remove"]`)
	x.awaitGone(`#member-group-f-contractors`)
	x.press(`#member-group-f-payments-owners button[value="remove"]`)
	x.await(`main`, "This is the last owner")
	x.every("last-owner")
	x.goTo("/admin/teams")
	x.await(`main`, "You have no access")
}
