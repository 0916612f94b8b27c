//go:build integration

package integration

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// TestADatabaseIsSignedInToAsOneself: developers read as a user of their own, owners write, and see the master password;
// that user ends.
func TestADatabaseIsSignedInToAsOneself(t *testing.T) {
	_, dialer := realDatabases(t)
	o := startInspectedWith(t, peopleOf(world.Issuer), dialer)
	ns, p := team(t, o.Client), startPortal(t, "", sessionKeys(t))
	gives(t, o.Client, ns, "payments-dev", v1alpha1.DatabaseReaderRole)
	gives(t, o.Client, ns, "search-dev", v1alpha1.DatabaseOwnerRole)
	db := databaseOf(ns, "ledger", func(s *v1alpha1.RDSInstanceSpec) { s.DBName, s.SkipFinalSnapshot = "shop_ledger", true })
	createReady(t, o.Client, db)
	master := bound(t, o.Client, db)
	for _, s := range []string{"CREATE TABLE entries (id int)", "INSERT INTO entries VALUES (1)"} {
		if _, err := connections(t, dialer, master).ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	path := "/namespaces/" + ns + "/rdsinstances/ledger/reveal"
	shown := func(user, query string) (got operatorapi.Password, details map[string]string) {
		t.Helper()
		said := ""
		await(t, user+" to be shown a password", func() (bool, string) {
			status, _, body := p.revealed(t, userToken(t, user), path+query)
			if status != http.StatusTooManyRequests {
				said = body
			}
			return status == http.StatusOK && json.Unmarshal([]byte(body), &got) == nil, said
		})
		return got, map[string]string{
			"type": got.Type, "host": got.Host, "port": got.Port, "database": got.Database, "username": got.Username, "password": got.Password,
		}
	}
	first, details := shown("payments-dev", "")
	reader := connections(t, dialer, details)
	if _, err := reader.ExecContext(t.Context(), "SELECT * FROM entries"); err != nil {
		t.Errorf("a developer reads: %v", err)
	}
	if _, err := reader.ExecContext(t.Context(), "INSERT INTO entries VALUES (2)"); err == nil {
		t.Error("a developer writes")
	}
	if left := time.Until(*first.ExpiresAt); first.Access != "Read" || left > 24*time.Hour || left < 23*time.Hour {
		t.Errorf("access %s for %s", first.Access, left)
	}
	if again, _ := shown("payments-dev", ""); again.Password != first.Password || again.Username != first.Username {
		t.Error("asking again makes another password")
	}
	p.call(t, userToken(t, "payments-dev"), "POST", path+"?master=true", nil).want(t, http.StatusForbidden)
	_, details = shown("search-dev", "")
	if _, err := connections(t, dialer, details).ExecContext(t.Context(), "INSERT INTO entries VALUES (3)"); err != nil {
		t.Errorf("an owner writes: %v", err)
	}
	if got, _ := shown("search-dev", "?master=true"); got.Password != master["password"] || got.Access != "" {
		t.Error("an owner is shown another password than the master's")
	}
	awaitEvent(t, o.Client, db, "PasswordShown", "oidc:payments-dev was shown the password of a user of their own, with access Read")
	users := &v1alpha1.DatabaseUserList{}
	if err := o.List(t.Context(), users, client.InNamespace(ns)); err != nil || len(users.Items) != 2 {
		t.Fatalf("%d users, %v", len(users.Items), err)
	}
	for i := range users.Items {
		u := &users.Items[i]
		if by := u.Annotations[v1alpha1.AnnotationRequestedBy]; by != "oidc:payments-dev" && by != "oidc:search-dev" {
			t.Errorf("requested by %s", by)
		}
		if err := o.Get(t.Context(), client.ObjectKeyFromObject(db), db); err != nil || len(db.Status.UsedBy) > 0 {
			t.Errorf("the database is in use by %v, %v", db.Status.UsedBy, err)
		}
		edit(t, o.Client, u, func(u *v1alpha1.DatabaseUser) { u.Spec.ExpiresAt = &metav1.Time{Time: time.Now().Add(-time.Second)} })
		awaitGone(t, o.Client, u)
	}
	if err := connections(t, dialer, details).PingContext(t.Context()); err == nil {
		t.Error("a user whose time is over signs in")
	}
}
