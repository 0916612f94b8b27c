//go:build integration

package integration

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

// doneTo returns what was done to objects with a name, according to the Events, in any order.
func doneTo(t *testing.T, name string) (all []string) {
	t.Helper()
	list := &corev1.EventList{}
	if err := admin(t).List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if e := &list.Items[i]; e.ReportingController == activity.Controller && e.InvolvedObject.Name == name {
			all = append(all, e.Namespace+" "+e.Reason+" "+e.Message)
		}
	}
	slices.Sort(all)
	return all
}

// TestWhatIsDoneIsToldToTheTeam checks that a team, and nobody else, sees actions on its objects in Events, on the
// pages and through the REST API, while the object exists and after its deletion.
func TestWhatIsDoneIsToldToTheTeam(t *testing.T) {
	issuer := oidctest.New(t)
	p, other := startPortal(t, "", sessionKeys(t)), startPortal(t, issuer.URL, sessionKeys(t))
	token, stranger, name := userToken(t, "payments-dev"), userToken(t, "search-dev"), unique("told")
	remove(t, "payments", name)
	base := "/namespaces/payments/s3buckets"
	p.call(t, token, "POST", base+"?dryRun=All", bucketBody(name, "")).want(t, http.StatusOK)
	p.call(t, stranger, "POST", base, bucketBody(name, "")).want(t, http.StatusForbidden)
	p.call(t, token, "POST", base, bucketBody(name, "")).want(t, http.StatusCreated)
	p.call(t, token, "POST", base, bucketBody(name, "")).want(t, http.StatusConflict)
	patch := map[string]any{"spec": map[string]any{"tags": map[string]any{"planted": "tag"}}}
	for range 3 {
		p.call(t, token, "PATCH", base+"/"+name, patch, "If-Match", "*", "Content-Type",
			"application/merge-patch+json").want(t, http.StatusOK)
	}
	p.call(t, stranger, "PATCH", base+"/"+name, patch, "If-Match", "*", "Content-Type",
		"application/merge-patch+json").want(t, http.StatusForbidden)
	p.call(t, stranger, "DELETE", base+"/"+name, nil).want(t, http.StatusForbidden)
	p.call(t, token, "DELETE", base+"/"+name, nil).want(t, http.StatusAccepted)
	want := []string{
		"payments Changed %s changed tags.", "payments Created %s requested it.", "payments Deleted %s deleted it.",
	}
	var got []string
	await(t, "the events", func() (bool, string) {
		got = doneTo(t, name)
		return len(got) >= len(want), strings.Join(got, "\n")
	})
	for i, e := range got {
		who := strings.TrimPrefix(e, strings.SplitAfter(want[i], "%s")[0][:strings.Index(want[i], "%s")])
		who = strings.TrimSuffix(who, strings.SplitN(want[i], "%s", 2)[1])
		if len(got) != len(want) || !strings.HasSuffix(who, "oidc:payments-dev") && !strings.HasSuffix(
			who, "(oidc:payments-dev)") {
			t.Fatalf("events %q", got)
		}
	}
	await(t, "REST of another replica to tell of it, newest first", func() (bool, string) {
		all := p.call(t, token, "GET", "/activity?namespace=payments&limit=500", nil).want(t, http.StatusOK)
		deleted, changed := strings.Index(all.raw, "deleted it."), strings.Index(all.raw, "changed tags.")
		return strings.Contains(all.raw, name) && deleted >= 0 && changed > deleted &&
			strings.Contains(all.raw, `"actor":"oidc:payments-dev"`), all.raw
	})
	p.call(t, stranger, "GET", "/activity?namespace=payments", nil).want(t, http.StatusForbidden)
	if all := p.call(t, stranger, "GET", "/activity", nil).want(t, http.StatusOK); strings.Contains(all.raw, name) {
		t.Errorf("another team hears of it: %s", all.raw)
	}
	in := other.signIn(t, issuer, oidctest.Claims{"preferred_username": "payments-dev", "groups": []string{
		"team-payments",
	}})
	await(t, "the page of the team to tell of it", func() (bool, string) {
		page := other.visit(t, "GET", "/teams/payments/about", in.cookies()).want(t, http.StatusOK)
		return strings.Contains(page.raw, name) && strings.Contains(page.raw, "deleted it."), page.raw
	})
	out := other.signIn(t, issuer, oidctest.Claims{"preferred_username": "search-dev", "groups": []string{
		"team-search",
	}})
	other.visit(t, "GET", "/teams/payments/about", out.cookies()).want(t, http.StatusForbidden)
	other.visit(t, "GET", "/admin/activity", in.cookies()).want(t, http.StatusForbidden)
	boss := other.signIn(t, issuer, oidctest.Claims{"preferred_username": "platform-admin", "groups": []string{
		"platform-admins",
	}})
	if page := other.visit(t, "GET", "/admin/activity", boss.cookies()); page.status != http.StatusOK ||
		!strings.Contains(page.raw, name) {
		t.Errorf("an admin is shown %d %s", page.status, page.raw)
	}
	await(t, "the repeats to be counted", func() (bool, string) {
		all := p.call(t, token, "GET", "/activity?namespace=payments&limit=500", nil).want(t, http.StatusOK)
		for _, item := range all.body["items"].([]any) {
			if one := item.(map[string]any); one["name"] == name && one["reason"] == "Changed" {
				return one["count"] == 3.0, fmt.Sprint(one)
			}
		}
		return false, all.raw
	})
}

// eventAs returns an Event as the portal writes it.
func eventAs(controller, kind, group string) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: unique("forged")}, EventTime: metav1.NewMicroTime(
			time.Now()), Type: "Normal",
		ReportingController: controller, ReportingInstance: "x", Action: "Changed", Reason: "Changed",
		Note:      "oidc:payments-dev deleted it.",
		Regarding: corev1.ObjectReference{APIVersion: group, Kind: kind, Namespace: "payments", Name: "x", UID: "u"},
	}
}

// TestNobodyButThePortalTellsActivity checks that nobody can forge these Events, neither with permission to write
// Events nor through the other Events API, and that a stolen token of the portal can write no other Events.
func TestNobodyButThePortalTellsActivity(t *testing.T) {
	const group = "portico.dev/v1alpha1"
	ctx, c := t.Context(), admin(t)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-everything-"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "test:events"}},
	}
	create(t, c, binding)
	t.Cleanup(func() { release(context.Background(), t, c, binding) })
	as := func(username string) kubernetes.Interface {
		t.Helper()
		cfg := rest.CopyConfig(world.Admin)
		cfg.Impersonate = rest.ImpersonationConfig{UserName: username, Groups: []string{"test:events"}}
		k, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	own, err := world.ServiceAccountConfig(ctx, stack.Namespace, "portico-portal")
	if err != nil {
		t.Fatal(err)
	}
	portal, err := kubernetes.NewForConfig(own)
	if err != nil {
		t.Fatal(err)
	}
	everything := as("system:serviceaccount:" + stack.Namespace + ":portico-portal")
	owner := as("oidc:payments-dev")
	refused := func(what, says string, err error) {
		t.Helper()
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", what, err, says)
		}
	}
	made, err := portal.EventsV1().Events("payments").Create(ctx, eventAs(activity.Controller, "S3Bucket", group),
		metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("the portal cannot tell anything: %v", err)
	}
	t.Cleanup(func() {
		_ = c.Delete(context.Background(),
			&corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: made.Name}})
	})
	const ours = "only Portico's portal writes events as portico.dev/portal"
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	_, err = owner.EventsV1().Events("payments").Create(ctx, eventAs(activity.Controller, "S3Bucket", group), dry)
	refused("an event in the portal's name", ours, err)
	old := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: unique("forged")}, InvolvedObject: made.Regarding,
		Reason: "Deleted", Message: "x",
		ReportingController: activity.Controller, ReportingInstance: "x", Action: "x", EventTime: made.EventTime,
		Type: "Normal",
	}
	_, err = owner.CoreV1().Events("payments").Create(ctx, old, dry)
	refused("the same by the core API", ours, err)
	change := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}
	_, err = owner.CoreV1().Events("payments").Patch(ctx, made.Name, types.MergePatchType,
		[]byte(`{"message":"somebody else did it"}`), change)
	refused("another text", ours, err)
	_, err = owner.CoreV1().Events("payments").Patch(
		ctx, made.Name, types.MergePatchType, []byte(`{"reportingComponent":"x"}`), change)
	refused("another name", ours, err)

	for what, attempt := range map[string]struct {
		event *eventsv1.Event
		says  string
	}{
		"an event of the operator":   {eventAs("portico-operator", "S3Bucket", group), "as portico.dev/portal only"},
		"an event without a name":    {eventAs("kubelet", "S3Bucket", group), "as portico.dev/portal only"},
		"an event about a Pod":       {eventAs(activity.Controller, "Pod", "v1"), "Portico's own objects only"},
		"about a look-alike":         {eventAs(activity.Controller, "S3Bucket", "portico.development/v1"), "Portico's own objects only"},
		"about nothing that is said": {eventAs(activity.Controller, "S3Bucket", ""), "Portico's own objects only"},
	} {
		for who, k := range map[string]kubernetes.Interface{
			"the portal": portal, "the portal with every right": everything,
		} {
			_, err := k.EventsV1().Events("payments").Create(ctx, attempt.event.DeepCopy(), dry)
			refused(who+": "+what, attempt.says, err)
		}
	}
	alarm := eventAs(activity.Controller, "S3Bucket", group)
	alarm.Type = "Warning"
	_, err = portal.EventsV1().Events("payments").Create(ctx, alarm, dry)
	refused("a warning", "of the type Normal", err)
	system := eventAs(activity.Controller, "S3Bucket", group)
	system.Namespace, system.Regarding.Namespace = "kube-system", "kube-system"
	_, err = portal.EventsV1().Events("kube-system").Create(ctx, system, dry)
	refused("in a namespace of the system", "Portico's own objects only", err)

	byOperator := &corev1.Event{}
	await(t, "an event of others", func() (bool, string) {
		foreign := eventAs("portico-operator", "S3Bucket", group)
		if err := c.Create(ctx, foreign); err != nil {
			return false, err.Error()
		}
		t.Cleanup(func() { _ = c.Delete(context.Background(), foreign) })
		return c.Get(ctx, client.ObjectKeyFromObject(foreign), byOperator) == nil, "not there"
	})
	_, err = portal.EventsV1().Events("payments").Patch(ctx, byOperator.Name, types.MergePatchType,
		[]byte(`{"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`), change)
	refused("taking over another's event", "as portico.dev/portal only", err)
	if err := portal.CoreV1().Events("payments").Delete(ctx, made.Name, metav1.DeleteOptions{}); !apierrors.IsForbidden(
		err) {
		t.Errorf("deleting an event: %v", err)
	}
	if _, err := portal.CoreV1().Events("payments").Create(ctx, old, dry); !apierrors.IsForbidden(err) {
		t.Errorf("by the core API: %v", err)
	}
}
