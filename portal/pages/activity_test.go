package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
)

// done returns the activity Event about a bucket or, if the name is a Team's, about that Team.
func done(namespace, name, reason, note string, count int32, ago time.Duration) *corev1.Event {
	e := &corev1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: activity.Namespace(namespace), Annotations: map[string]string{activity.AnnotationActor: "oidc:ann"}},
		InvolvedObject:      corev1.ObjectReference{Kind: "S3Bucket", Namespace: namespace, Name: name, UID: types.UID("uid-" + name)},
		ReportingController: activity.Controller, Reason: reason, Message: note, Type: corev1.EventTypeNormal,
		EventTime: metav1.NewMicroTime(noon.Add(-ago)),
	}
	if namespace == "" {
		e.InvolvedObject.Kind = "Team"
	}
	if count > 1 {
		e.Series = &corev1.EventSeries{Count: count, LastObservedTime: e.EventTime}
	}
	return e
}

// happened adds recent activity, and an event of the operator, which is no activity.
func happened(f *fakeCluster) *fakeCluster {
	byOperator := done("payments", "invoices", "InSync", "It is as asked for.", 1, time.Second)
	byOperator.ReportingController = "portico-operator"
	f.events = []*corev1.Event{
		byOperator,
		done("", "growth", activity.Changed, "Pat (oidc:admin) changed members.", 1, 10*time.Second),
		done("payments", "invoices", activity.Changed, "Ann (oidc:ann) changed tags and versioning.", 3, time.Minute),
		done("payments", "gone", activity.Deleted, "Ann (oidc:ann) deleted it.", 1, 2*time.Minute),
		done("search", "index", activity.Created, "oidc:<b>bob</b> requested it.", 1, 3*time.Minute),
		done("payments", "gone", activity.Created, "Ann (oidc:ann) requested it.", 1, 4*time.Minute),
	}
	return f
}

func TestRecentActivityIsShownToThoseWhoMayListEvents(t *testing.T) {
	const changed = "Ann (oidc:ann) changed tags and versioning."
	for reason, c := range map[string]struct {
		id     auth.Identity
		path   string
		denied []string
		shown  []string
		hidden []string
	}{
		"the page of a namespace": {
			developer, "/teams/payments/about", nil,
			[]string{changed, "(3 times)", `href="/teams/payments/s3buckets/invoices"`, "deleted it", "about an hour"},
			[]string{"bob", "changed members", "It is as asked for", `href="/teams/payments/s3buckets/gone"`},
		},
		"without the right": {
			developer, "/teams/payments/about",
			[]string{"list events payments"},
			[]string{"Your role lacks the right to list events in this namespace."},
			[]string{changed},
		},
		"nothing was done": {developer, "/teams/search/about", []string{"list search"}, nil, []string{changed}},
		"all of it": {
			platformAdmin, "/admin/activity", nil,
			[]string{
				changed, "changed members", "oidc:&lt;b&gt;bob&lt;/b&gt; requested it", `href="/teams/search"`,
				`href="/teams/_platform/teams/growth"`,
			},
			[]string{"It is as asked for", "<b>bob", "You are not allowed to see all of these"},
		},
		"an admin who may not list events everywhere": {
			platformAdmin, "/admin/activity",
			[]string{"list events ", "list events search", "list events default"},
			[]string{changed, "You are not allowed to see all of these"},
			[]string{"bob", "changed members"},
		},
		"no admin":        {developer, "/admin/activity", nil, []string{"You have no access to this"}, []string{changed}},
		"of the resource": {developer, atInvoices + "?tab=activity", nil, []string{changed + " (3 times)", "about an hour"}, []string{"deleted it"}},
	} {
		t.Run(reason, func(t *testing.T) {
			f := happened(hostnameSite(t))
			f.denied = c.denied
			if strings.Contains(c.path, "invoices") {
				f = happened(busySite(t))
			}
			html := visit(t, f, c.id, c.path).Body.String()
			lacks(t, html, c.shown...)
			for _, words := range c.hidden {
				if strings.Contains(html, words) {
					t.Errorf("it shows %q", words)
				}
			}
		})
	}
}

func TestRecentActivityOfATeam(t *testing.T) {
	f := ownedSite(t)
	for i := range 12 {
		f.events = append(f.events, done("payments", fmt.Sprint("b", i), activity.Created,
			fmt.Sprintf("Ann made number %d.", i), 1, time.Duration(i)*time.Minute))
	}
	html := visit(t, f, developer, "/team/growth").Body.String()
	lacks(t, html, "Ann made number 0.", "Ann made number 9.", "These are the latest")
	if strings.Contains(html, "Ann made number 10.") {
		t.Error("it shows more than ten")
	}
	f.denied = []string{"list events payments", "list events growth-prod"}
	lacks(t, visit(t, f, developer, "/team/growth").Body.String(), "Your roles lack the right to list events")
	lacks(t, visit(t, ownedSite(t), developer, "/team/growth").Body.String(),
		"Nobody has requested, changed or deleted anything lately. Changes made with kubectl are not shown here.")
}

// TestWhoRequestedItIsToldOnce: by the activity while its events exist, and by the object's own record after that.
func TestWhoRequestedItIsToldOnce(t *testing.T) {
	f := busySite(t)
	f.events = []*corev1.Event{done("payments", "invoices", activity.Created, "Ann (oidc:ann) requested it.", 1,
		time.Minute)}
	html := visit(t, f, developer, atInvoices+"?tab=activity").Body.String()
	lacks(t, html, "<b>Requested</b> <p>Ann (oidc:ann) requested it.</p>")
	if strings.Count(html, "<b>Requested</b>") != 1 || strings.Contains(html, "<b>Created</b>") {
		t.Error("it is told twice")
	}
	f.events = nil
	lacks(t, visit(t, f, developer, atInvoices+"?tab=activity").Body.String(), "<b>Requested</b>")
}
