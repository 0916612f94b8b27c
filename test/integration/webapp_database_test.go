//go:build integration

package integration

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// An application signs in as its own database user, with the access that it requests; the user is dropped when no
// binding needs it.
func TestAnApplicationSignsInAsItsOwnUser(t *testing.T) {
	c, _, dialer := withDatabases(t)
	i := databaseOf(team(t, c), "ledger", func(s *v1alpha1.RDSInstanceSpec) {
		s.DBName, s.SkipFinalSnapshot = "shop_ledger", true
	})
	createReady(t, c, i)
	master := bound(t, c, i)
	app := appOf(i.Namespace, "shop")
	app.Spec.Bindings = []v1alpha1.WebAppBinding{
		{Kind: v1alpha1.KindRDSInstance, Name: i.Name, User: v1alpha1.BindingUserOwn},
	}
	createReady(t, c, app)
	own := secretOf(t, c, app.Namespace, app.Status.Bindings[0].Secret)
	if own["username"] == master["username"] || own["password"] == master["password"] {
		t.Fatal("the application has the master user")
	}
	db := connections(t, dialer, own)
	for _, s := range []string{"CREATE TABLE entries (id int)", "INSERT INTO entries VALUES (1)"} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if _, err := db.ExecContext(t.Context(), "CREATE ROLE intruder"); err == nil {
		t.Error("it may make users")
	}
	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Spec.Bindings[0].Access = v1alpha1.AccessRead })
	await(t, "fewer rights", func() (bool, string) {
		_, err := db.ExecContext(t.Context(), "INSERT INTO entries VALUES (2)")
		return err != nil, "it writes still"
	})
	users := &v1alpha1.DatabaseUserList{}
	if err := c.List(t.Context(), users, client.InNamespace(app.Namespace)); err != nil || len(users.Items) != 1 {
		t.Fatalf("%d users, %v", len(users.Items), err)
	}
	user := &users.Items[0]
	edit(t, c, app, func(a *v1alpha1.WebApp) {
		a.Spec.Bindings[0].User, a.Spec.Bindings[0].Access = v1alpha1.BindingUserMaster, ""
	})
	awaitGone(t, c, user)
	ready(t, c, app)
	if got := secretOf(t, c, app.Namespace, app.Status.Bindings[0].Secret); got["username"] != master["username"] {
		t.Errorf("signs in as %s", got["username"])
	}
	if err := connections(t, dialer, own).PingContext(t.Context()); err == nil {
		t.Error("its user can still sign in")
	}
	if err := c.Delete(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, c, app)
}

// access is only for bindings with their own user, and user is only for databases.
func TestAUserIsForDatabases(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	for name, row := range map[string]struct {
		binding v1alpha1.WebAppBinding
		want    string
	}{
		"a bucket has no user":           {v1alpha1.WebAppBinding{Kind: "S3Bucket", Name: "x", User: v1alpha1.BindingUserOwn}, "user is for databases"},
		"the master user is not limited": {v1alpha1.WebAppBinding{Kind: "RDSInstance", Name: "x", User: v1alpha1.BindingUserMaster, Access: v1alpha1.AccessRead}, "access is for buckets"},
		"nor is one that is not named":   {v1alpha1.WebAppBinding{Kind: "RDSInstance", Name: "x", Access: v1alpha1.AccessRead}, "access is for buckets"},
		"a user is one of two":           {v1alpha1.WebAppBinding{Kind: "RDSInstance", Name: "x", User: "Root"}, "supported values"},
		"an own one":                     {v1alpha1.WebAppBinding{Kind: "RDSInstance", Name: "x", User: v1alpha1.BindingUserOwn, Access: v1alpha1.AccessRead}, ""},
	} {
		app := appOf(ns, "x")
		app.Spec.Bindings = []v1alpha1.WebAppBinding{row.binding}
		err := c.Create(t.Context(), app, client.DryRunAll)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(strings.ToLower(err.Error()), row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
