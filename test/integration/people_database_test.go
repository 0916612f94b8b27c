//go:build integration

package integration

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// TestADatabaseIsSignedInToAsOneself checks that developers read with their own database user, that owners write and
// can see the master password, and that these users expire.
func TestADatabaseIsSignedInToAsOneself(t *testing.T) {
	_, dialer := realDatabases(t)
	o := startInspectedWith(t, peopleOf(world.Issuer), dialer)
	ns, p := team(t, o.Client), startPortal(t, "", sessionKeys(t))
	gives(t, o.Client, ns, "payments-dev", v1alpha1.DatabaseReaderRole)
	gives(t, o.Client, ns, "search-dev", v1alpha1.DatabaseOwnerRole)
	db := databaseOf(ns, "ledger", func(s *v1alpha1.RDSInstanceSpec) {
		s.DBName, s.SkipFinalSnapshot = "shop_ledger", true
	})
	createReady(t, o.Client, db)
	master := bound(t, o.Client, db)
	for _, s := range []string{"CREATE TABLE entries (id int)", "INSERT INTO entries VALUES (1)"} {
		if _, err := connections(t, dialer, master).ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	path := "/namespaces/" + ns + "/rdsinstances/ledger/reveal"
	shown := func(user, query string) (operatorapi.Password, map[string]string) {
		return p.signsIn(t, user, path+query)
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
	if _, err := connections(t, dialer, details).ExecContext(
		t.Context(), "INSERT INTO entries VALUES (3)"); err != nil {
		t.Errorf("an owner writes: %v", err)
	}
	if got, _ := shown("search-dev", "?master=true"); got.Password != master["password"] || got.Access != "" {
		t.Error("an owner is shown another password than the master's")
	}
	awaitEvent(t, o.Client, db, "PasswordShown", "oidc:payments-dev was shown the password of a user of their own, "+
		"with access Read")
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
		edit(t, o.Client, u, func(u *v1alpha1.DatabaseUser) {
			u.Spec.ExpiresAt = &metav1.Time{Time: time.Now().Add(-time.Second)}
		})
		awaitGone(t, o.Client, u)
	}
	if err := connections(t, dialer, details).PingContext(t.Context()); err == nil {
		t.Error("a user whose time is over signs in")
	}
}

// signsIn reveals a database's password to a person, and returns the response, also as connection details.
func (r *replica) signsIn(t *testing.T, user, path string) (got operatorapi.Password, details map[string]string) {
	t.Helper()
	said := ""
	await(t, user+" to be shown a password", func() (bool, string) {
		status, _, body := r.revealed(t, userToken(t, user), path)
		if status != http.StatusTooManyRequests {
			said = body
		}
		return status == http.StatusOK && json.Unmarshal([]byte(body), &got) == nil, said
	})
	return got, map[string]string{
		"type": got.Type, "host": got.Host, "port": got.Port, "database": got.Database, "username": got.Username,
		"password": got.Password,
	}
}

// TestAPersonsOwnUserCannotBeWidened has a developer try to extend their own database user. The database has a long
// name and remains when its RDSInstance is deleted; the user is dropped nevertheless.
func TestAPersonsOwnUserCannotBeWidened(t *testing.T) {
	_, dialer := realDatabases(t)
	o := startInspectedWith(t, peopleOf(world.Issuer), dialer)
	ns, p := team(t, o.Client), startPortal(t, "", sessionKeys(t))
	gives(t, o.Client, ns, "payments-dev", v1alpha1.DatabaseReaderRole)
	gives(t, o.Client, ns, "payments-dev", "portico-developer")
	name := "ledger-" + strings.Repeat("of-a-long-name-", 3) + "end"
	db := databaseOf(ns, name, func(s *v1alpha1.RDSInstanceSpec) {
		s.DBName, s.DBInstanceIdentifier, s.DeletionPolicy = "shop_kept", unique("kept"), v1alpha1.DeletionRetain
	})
	createReady(t, o.Client, db)
	got, details := p.signsIn(t, "payments-dev", "/namespaces/"+ns+"/rdsinstances/"+name+"/reveal")
	if err := connections(t, dialer, details).PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	users := &v1alpha1.DatabaseUserList{}
	if err := o.List(t.Context(), users, client.InNamespace(ns)); err != nil || len(users.Items) != 1 {
		t.Fatalf("%d users, %v", len(users.Items), err)
	}
	cfg := rest.CopyConfig(world.Admin)
	cfg.Impersonate.UserName = stack.Prefix + "payments-dev"
	developer, err := client.New(cfg, client.Options{Scheme: scheme()})
	if err != nil {
		t.Fatal(err)
	}
	user := users.Items[0].DeepCopy()
	for what, patch := range map[string]string{
		"access":            `{"spec":{"access":"ReadWrite"}}`,
		"no end":            `{"spec":{"expiresAt":null}}`,
		"a later end":       `{"spec":{"expiresAt":"2099-01-01T00:00:00Z"}}`,
		"to stay":           `{"spec":{"deletionPolicy":"Retain"}}`,
		"another owner":     `{"metadata":{"ownerReferences":null}}`,
		"a pause":           `{"metadata":{"annotations":{"portico.dev/paused":"true"}}}`,
		"protection":        `{"metadata":{"annotations":{"portico.dev/deletion-protection":"true"}}}`,
		"a check in a year": `{"metadata":{"annotations":{"portico.dev/audit-interval":"8000h"}}}`,
	} {
		err := developer.Patch(t.Context(), user.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "is one person's own user in the database "+
			name) {
			t.Errorf("a developer gives it %s: %v", what, err)
		}
	}
	if err := developer.Patch(t.Context(), user.DeepCopy(),
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"note":"mine"}}}`))); err != nil {
		t.Errorf("an annotation of somebody's own: %v", err)
	}
	forged := &v1alpha1.DatabaseUser{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "forged", OwnerReferences: []metav1.OwnerReference{
			user.OwnerReferences[0],
		}}, Spec: user.Spec,
	}
	if err := developer.Create(t.Context(), forged, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("a developer makes one: %v", err)
	}
	if err := developer.Delete(t.Context(), user, client.DryRunAll); err != nil {
		t.Errorf("a developer deletes it: %v", err)
	}
	if err := o.Delete(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, o.Client, db)
	if err := connections(t, dialer, details).PingContext(t.Context()); err == nil {
		t.Errorf("%s signs in to a database that stayed", got.Username)
	}
}
