//go:build integration

package integration

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/test/stack"
)

var (
	payer    = auth.Identity{Username: "oidc:payments-dev", Groups: []string{"oidc:team-payments"}}
	searcher = auth.Identity{Username: "oidc:search-dev", Groups: []string{"oidc:team-search"}}
)

func bucketKind(t *testing.T, kinds catalog.Catalog) catalog.Kind {
	t.Helper()
	k, ok := kinds.ByPlural("s3buckets")
	if !ok {
		t.Fatal("no kind s3buckets")
	}
	return k
}

// asDeveloper returns a client that acts as payments-dev, without the portal.
func asDeveloper(t *testing.T) client.Client {
	t.Helper()
	cfg, err := world.UserConfig("payments-dev")
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{Scheme: controllers.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClusterRefusesIdentitiesOfTheSystem(t *testing.T) {
	c, kinds := newCluster(t, slog.New(slog.DiscardHandler))
	k := bucketKind(t, kinds)
	obj := &unstructured.Unstructured{Object: bucketBody("x", "")}
	obj.SetNamespace("payments")
	for reason, id := range map[string]auth.Identity{
		"nobody":                       {},
		"groups without a name":        {Groups: []string{"oidc:team-payments"}},
		"a user of the system":         {Username: "system:kube-controller-manager"},
		"a group of the system":        {Username: "oidc:x", Groups: []string{"system:masters"}},
		"a ServiceAccount unannounced": {Username: "system:serviceaccount:portico-system:portico-operator"},
		"a ServiceAccount with groups": {Username: "system:serviceaccount:a:b", Groups: []string{"system:masters"}, ServiceAccount: true},
	} {
		t.Run(reason, func(t *testing.T) {
			if _, err := c.Write.Create(t.Context(), id, k, obj, true); err == nil || apierrors.IsForbidden(err) {
				t.Errorf("create: %v, want a refusal before anything is sent", err)
			}
			if _, err := c.Objects.List(t.Context(), id, k, "payments"); err == nil {
				t.Error("list answers")
			}
		})
	}
}

func TestClusterUpdatesTheVersionThatWasSeen(t *testing.T) {
	c, kinds := newCluster(t, slog.New(slog.DiscardHandler))
	k := bucketKind(t, kinds)
	obj := &unstructured.Unstructured{Object: bucketBody(unique("edit"), "")}
	obj.SetNamespace("payments")
	remove(t, "payments", obj.GetName())
	made, err := c.Write.Create(t.Context(), payer, k, obj, false)
	if err != nil {
		t.Fatal(err)
	}
	seen := write.ETag(made.Object)

	// Writes of the operator in the meantime do not matter.
	platform := admin(t)
	live := newBucket("payments", obj.GetName())
	if err := platform.Get(t.Context(), keyOf(live), live); err != nil {
		t.Fatal(err)
	}
	live.Finalizers = []string{"portico.dev/test"}
	if err := platform.Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = platform.Get(context.Background(), keyOf(live), live)
		live.Finalizers = nil
		_ = platform.Update(context.Background(), live)
	})
	edited := made.Object.DeepCopy()
	if err := unstructured.SetNestedField(edited.Object, "Enabled", "spec", "versioning"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write.Update(t.Context(), searcher, k, edited, seen, false); !isForbidden(err) {
		t.Errorf("update by an outsider: %v, want forbidden", err)
	}
	updated, err := c.Write.Update(t.Context(), payer, k, edited, seen, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := updated.Object.GetFinalizers(); !slices.Contains(got, "portico.dev/test") {
		t.Errorf("finalizers %v were not kept", got)
	}
	if got := updated.Object.GetAnnotations()["portico.dev/requested-by"]; got != payer.Username {
		t.Errorf("requested by %q after an update", got)
	}
	var changed *failure.ChangedError
	if _, err := c.Write.Update(t.Context(), payer, k, edited, seen, false); !asError(err, &changed) {
		t.Errorf("update of an old version: %v, want a ChangedError", err)
	}
	ref := catalog.Ref{Kind: k, Namespace: "payments", Name: obj.GetName()}
	if _, err := c.Write.Delete(t.Context(), payer, ref, write.Seen{UID: "another-uid"}, false); !apierrors.IsConflict(
		err) {
		t.Errorf("delete of another UID: %v, want a conflict", err)
	}
}

func TestClusterAnnotatesWithoutUndoingOthersChanges(t *testing.T) {
	c, kinds := newCluster(t, slog.New(slog.DiscardHandler))
	k := bucketKind(t, kinds)
	obj := &unstructured.Unstructured{Object: bucketBody(unique("note"), "")}
	obj.SetNamespace("payments")
	remove(t, "payments", obj.GetName())
	if _, err := c.Write.Create(t.Context(), payer, k, obj, false); err != nil {
		t.Fatal(err)
	}
	// A colleague changes the spec and an annotation; the cache may still be stale.
	platform, live := admin(t), newBucket("payments", obj.GetName())
	patch := client.RawPatch(types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"colleague":"1"}},"spec":{"versioning":"Enabled"}}`))
	if err := platform.Patch(t.Context(), live, patch); err != nil {
		t.Fatal(err)
	}
	ref := catalog.Ref{Kind: k, Namespace: "payments", Name: obj.GetName()}
	yes := "true"
	if _, err := c.Write.Annotate(t.Context(), searcher, ref,
		map[string]*string{"portico.dev/paused": &yes}); !isForbidden(
		err) {
		t.Errorf("by an outsider: %v, want forbidden", err)
	}
	for want, value := range map[string]*string{"true": &yes, "": nil} {
		got, err := c.Write.Annotate(t.Context(), payer, ref, map[string]*string{"portico.dev/paused": value})
		if err != nil {
			t.Fatal(err)
		}
		versioning, _, _ := unstructured.NestedString(got.Object, "spec", "versioning")
		if versioning != "Enabled" {
			t.Errorf("versioning = %q, want Enabled", versioning)
		}
		for key, value := range map[string]string{
			"portico.dev/paused": want, "colleague": "1", "portico.dev/requested-by": payer.Username,
		} {
			if a := got.GetAnnotations(); a[key] != value {
				t.Errorf("annotation %s = %q, want %q", key, a[key], value)
			}
		}
	}
	ref.Name = unique("none")
	if _, err := c.Write.Annotate(t.Context(), payer, ref, map[string]*string{
		"portico.dev/paused": &yes,
	}); !apierrors.IsNotFound(err) {
		t.Errorf("of nothing: %v, want not found", err)
	}
}

func TestClusterTellsSubscribers(t *testing.T) {
	c, kinds := newCluster(t, slog.New(slog.DiscardHandler))
	k := bucketKind(t, kinds)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sub := c.Changes.Subscribe(ctx)
	idle := c.Changes.Subscribe(ctx) // not read from yet: it must not block the other
	name := unique("live")
	remove(t, "payments", name)
	obj := &unstructured.Unstructured{Object: bucketBody(name, "")}
	obj.SetNamespace("payments")
	if _, err := c.Write.Create(t.Context(), payer, k, obj, false); err != nil {
		t.Fatal(err)
	}
	want := feed.Change{Kind: "s3buckets", Namespace: "payments", Name: name}
	waitForChange(t, sub, want)
	waitForChange(t, idle, want) // subscribers are notified one by one, in no order
	list, err := c.Objects.List(t.Context(), payer, k, "")
	if err != nil || !slices.ContainsFunc(list, func(o *unstructured.Unstructured) bool {
		return o.GetName() == name
	}) {
		t.Errorf("the list over all namespaces lacks the bucket (%v)", err)
	}
}

// waitForChange reads from a subscription until it has reported the change.
func waitForChange(t *testing.T, sub *feed.Subscription, want feed.Change) {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case <-sub.Ready():
		case <-deadline:
			t.Fatalf("nothing told of %+v", want)
		}
		if changes, _ := sub.Take(); slices.Contains(changes, want) {
			return
		}
	}
}

func TestClusterOffersProvidersOfTheNamespace(t *testing.T) {
	c, kinds := newCluster(t, slog.New(slog.DiscardHandler))
	k := bucketKind(t, kinds)
	got, err := c.Teams.Providers(t.Context(), payer, k, "payments")
	if err != nil || len(got) != 1 {
		t.Fatalf("providers of payments: %+v, %v, want one", got, err)
	}
	if got[0].Name != stack.Provider || got[0].Region == "" {
		t.Errorf("provider of payments = %+v, want %s, with a region", got[0], stack.Provider)
	}
	if _, err := c.Teams.Providers(t.Context(), searcher, k, "payments"); !isForbidden(err) {
		t.Errorf("providers of a foreign namespace: %v, want forbidden", err)
	}
	platform := auth.Identity{Username: "oidc:platform-admin", Groups: []string{"oidc:platform-admins"}}
	if got, err := c.Teams.Providers(t.Context(), platform, k, "kube-system"); err != nil || len(got) != 0 {
		t.Errorf("providers of a namespace that none selects: %v, %v", got, err)
	}
	spaces, err := c.Rights.Namespaces(t.Context(), payer)
	// other tests bind users there
	spaces = slices.DeleteFunc(spaces, func(ns string) bool { return strings.HasPrefix(ns, "team-") })
	if err != nil || !slices.Equal(spaces, []string{"payments"}) {
		t.Errorf("namespaces of payments-dev: %v, %v", spaces, err)
	}
	all, err := c.Rights.Namespaces(t.Context(), platform)
	if err != nil || !slices.Contains(all, "payments") || !slices.Contains(all, "search") {
		t.Errorf("namespaces of platform-admin: %v, %v", all, err)
	}
}

func TestRevocationReachesOtherReplicas(t *testing.T) {
	one, _ := newCluster(t, slog.New(slog.DiscardHandler))
	other, _ := newCluster(t, slog.New(slog.DiscardHandler))
	now := time.Now()
	user := fmt.Sprintf("%x", unique("user"))
	session := auth.SessionRef{ID: unique("0123456789abcdef"), User: user, Began: now.Add(-time.Hour)}
	// in the same list
	neighbour := auth.SessionRef{ID: unique("neighbour"), User: "0" + user, Began: now.Add(-time.Hour)}
	revoke := func(s auth.SessionRef) {
		t.Helper()
		if err := one.Revocations.Revoke(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if other.Revocations.Revoked(session) {
		t.Fatal("revoked before it was")
	}
	revoke(session)
	if !one.Revocations.Revoked(session) {
		t.Error("not revoked where it was done")
	}
	await(t, "the other replica", func() (bool, string) {
		return other.Revocations.Revoked(session), "still good there"
	})

	ended := auth.SessionRef{ID: unique("ended"), User: user, Began: now.Add(-auth.LongestSession - time.Hour)}
	revoke(ended)
	next := auth.SessionRef{ID: unique("next"), User: user, Began: now}
	kept := func() (ended, session bool, ofUser int) {
		var list corev1.SecretList
		if err := admin(t).List(t.Context(), &list, client.InNamespace(stack.Namespace), client.MatchingLabels{
			"app.kubernetes.io/component": "portal",
		}); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			for key := range list.Items[i].Data {
				session = session || strings.Contains(key, "0123456789abcdef")
				ended = ended || strings.Contains(key, "ended")
				if strings.HasPrefix(key, user+".") {
					ofUser++
				}
			}
		}
		return ended, session, ofUser
	}
	// The next sign-out removes expired sessions, once its replica has seen that they were written.
	await(t, "the lists to forget the session that ended by itself", func() (bool, string) {
		revoke(next)
		ended, session, _ := kept()
		return !ended && session, fmt.Sprintf("they hold it: %v, the one that was revoked: %v", ended, session)
	})
	// Many sign-outs of one user do not fill a list: one moment replaces them, and revokes all earlier sessions of the
	// user.
	older := auth.SessionRef{ID: unique("older"), User: user, Began: now.Add(-2 * time.Hour)}
	for n := range 40 {
		revoke(auth.SessionRef{ID: fmt.Sprint(unique("again"), n), User: user, Began: now})
	}
	await(t, "the other replica to know of the flood", func() (bool, string) {
		return other.Revocations.Revoked(older), "an older session is good there"
	})
	if _, _, n := kept(); n > 20 || !other.Revocations.Revoked(session) || !one.Revocations.Revoked(older) {
		t.Errorf("%d keys of one user", n)
	}
	for _, r := range []*cluster.Cluster{one, other} {
		if r.Revocations.Revoked(neighbour) {
			t.Error("another user's session ended, too")
		}
	}
}
