//go:build integration

package integration

import (
	"database/sql"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	dbserver "github.com/portico-platform/portico/controllers/databaseuser/server"
	realdb "github.com/portico-platform/portico/test/databases"
)

// withDatabases connects simulated databases to real servers, and returns an administrator's client with an operator
// that trusts them.
func withDatabases(t *testing.T) (client.Client, *realdb.Fleet, dbserver.Dialer) {
	t.Helper()
	fleet, dialer := realDatabases(t)
	c := admin(t)
	startOperator(t, operatorOptions{databases: dialer})
	return c, fleet, dialer
}

// realDatabases connects simulated databases to real servers, and returns how an operator reaches them.
func realDatabases(t *testing.T) (*realdb.Fleet, dbserver.Dialer) {
	t.Helper()
	fleet, err := realdb.StartFleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fleet.Stop)
	world.Proxy.LeadDatabases(fleet)
	t.Cleanup(func() { world.Proxy.LeadDatabases(nil) })
	return fleet, dbserver.Dialer{CAFile: fleet.CAFile, Loopback: true}
}

func databaseUserOf(i *v1alpha1.RDSInstance, name string) *v1alpha1.DatabaseUser {
	return &v1alpha1.DatabaseUser{ObjectMeta: meta1(i.Namespace, name), Spec: v1alpha1.DatabaseUserSpec{
		DatabaseRef: v1alpha1.LocalRef{Name: i.Name},
	}}
}

// connections returns an application's connections, according to its binding Secret.
func connections(t *testing.T, dialer dbserver.Dialer, b map[string]string) *sql.DB {
	t.Helper()
	port, err := strconv.Atoi(b["port"])
	if err != nil {
		t.Fatal(err)
	}
	engine := "postgres"
	if b["type"] != "postgresql" {
		engine = b["type"]
	}
	db, err := realdb.Open(realdb.Login{
		Engine: engine, Host: b["host"], Port: port, Database: b["database"],
		Username: b["username"], Password: b["password"], CAFile: dialer.CAFile,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// An application signs in with its binding Secret, keeps its tables and connections over a rotation, and cannot sign
// in after its user is deleted.
func TestAnApplicationHasADatabaseUser(t *testing.T) {
	c, fleet, dialer := withDatabases(t)
	for _, engine := range []string{"postgres", "mariadb"} {
		t.Run(engine, func(t *testing.T) {
			i := databaseOf(team(t, c), "shop", func(s *v1alpha1.RDSInstanceSpec) {
				s.Engine, s.EngineVersion, s.DBName, s.SkipFinalSnapshot = engine, "", "shop_orders", true
			})
			u := databaseUserOf(i, "app")
			create(t, c, u)
			if got := reason(t, c, u, "NotFound"); !strings.Contains(got.Message, "RDSInstance shop") {
				t.Errorf("before its database: %s", got.Message)
			}
			createReady(t, c, i)
			ready(t, c, u)
			first := secretOf(t, c, u.Namespace, u.Status.Binding.Name)
			checkBinding(t, c, i, u, first)
			app := connections(t, dialer, first)
			for _, s := range []string{"CREATE TABLE orders (id int)", "INSERT INTO orders VALUES (1)"} {
				if _, err := app.ExecContext(t.Context(), s); err != nil {
					t.Fatalf("%s: %v", s, err)
				}
			}
			second := rotated(t, c, u, first)
			for name, db := range map[string]*sql.DB{
				"who is connected": app, "a new connection with the password before": connections(t, dialer, first),
				"the new password": connections(t, dialer, second),
			} {
				if _, err := db.ExecContext(t.Context(), "INSERT INTO orders VALUES (2)"); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			toldNowhere(t, c, u, first, second)
			if err := c.Delete(t.Context(), i); err == nil || !strings.Contains(err.Error(), "DatabaseUser app") {
				t.Errorf("a database in use can be deleted: %v", err)
			}
			if err := c.Delete(t.Context(), u); err != nil {
				t.Fatal(err)
			}
			awaitGone(t, c, u)
			for _, b := range []map[string]string{first, second} {
				if err := connections(t, dialer, b).PingContext(t.Context()); err == nil {
					t.Errorf("%s can still sign in", b["username"])
				}
			}
			var rows int
			if err := connections(t, dialer, bound(t, c, i)).QueryRowContext(
				t.Context(), "SELECT count(*) FROM orders").Scan(&rows); err != nil || rows != 4 {
				t.Errorf("%d rows are left, %v", rows, err)
			}
			if text := fleet.Server(engine).Logged(); !strings.Contains(text, second["username"]) ||
				strings.Contains(text, second["password"]) {
				t.Error("the server's log has no statement of ours, or the password")
			}
		})
	}
}

// checkBinding compares a user's Secret with that of its database.
func checkBinding(t *testing.T, c client.Client, i *v1alpha1.RDSInstance, u *v1alpha1.DatabaseUser,
	b map[string]string,
) {
	t.Helper()
	master := bound(t, c, i)
	for key, value := range master {
		own := slices.Contains([]string{"username", "password", "uri"}, key)
		if b[key] == "" || own == (b[key] == value) {
			t.Errorf("%s is not as in the database's Secret, or the same", key)
		}
	}
	uri, err := url.Parse(b["uri"])
	if err != nil {
		t.Fatalf("the URI is none: %v", err)
	}
	if uri.User.Username() != b["username"] || uri.Host != b["host"]+":"+b["port"] || uri.Path != "/"+b["database"] {
		t.Errorf("uri of %s at %s%s, want %s, %s:%s/%s", uri.User.Username(), uri.Host, uri.Path, b["username"],
			b["host"], b["port"], b["database"])
	}
	if len(b) != len(master) {
		t.Errorf("%d keys, want %d", len(b), len(master))
	}
	for _, step := range []string{v1alpha1.StepDatabaseReached, v1alpha1.StepUserReady, v1alpha1.StepBindingReady} {
		if !meta.IsStatusConditionTrue(u.Status.Conditions, step) {
			t.Errorf("the condition %s is not True", step)
		}
	}
}

// rotated requests a new password and returns the published Secret.
func rotated(t *testing.T, c client.Client, u *v1alpha1.DatabaseUser, before map[string]string) map[string]string {
	t.Helper()
	annotate(t, c, u, v1alpha1.AnnotationRotatePassword, fmt.Sprint(time.Now().UnixNano()))
	var after map[string]string
	await(t, "a new password", func() (bool, string) {
		after = secretOf(t, c, u.Namespace, u.Status.Binding.Name)
		return after["password"] != before["password"] && after["username"] != before["username"], "the one before"
	})
	ready(t, c, u)
	return after
}

// toldNowhere searches for passwords in what everybody in the namespace can read.
func toldNowhere(t *testing.T, c client.Client, u *v1alpha1.DatabaseUser, all ...map[string]string) {
	t.Helper()
	told := fmt.Sprintf("%+v %q", u, eventsOf(t, c, u))
	for _, b := range all {
		if strings.Contains(told, b["password"]) {
			t.Error("a password is told")
		}
	}
}

// A database that does not answer blocks a deletion, and the message says how to skip it; a deleted one does not.
func TestADatabaseUserGoesWithoutItsDatabase(t *testing.T) {
	c, fleet, _ := withDatabases(t)
	i := databaseOf(team(t, c), "shop", func(s *v1alpha1.RDSInstanceSpec) {
		s.DBName, s.SkipFinalSnapshot = "shop_gone", true
	})
	createReady(t, c, i)
	kept, stuck := databaseUserOf(i, "kept"), databaseUserOf(i, "stuck")
	createReady(t, c, kept)
	createReady(t, c, stuck)
	fleet.Server("postgres").Stop()
	if err := c.Delete(t.Context(), stuck); err != nil {
		t.Fatal(err)
	}
	if got := reason(t, c, stuck, v1alpha1.ReasonNoNetworkPath); !strings.Contains(
		got.Message, "deletionPolicy: Retain") {
		t.Errorf("message %q", got.Message)
	}
	edit(t, c, stuck, func(u *v1alpha1.DatabaseUser) { u.Spec.DeletionPolicy = v1alpha1.DeletionRetain })
	awaitGone(t, c, stuck)
	if err := c.Delete(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	reason(t, c, kept, v1alpha1.ReasonNoNetworkPath)
	release(t.Context(), t, c, i) // the RDSInstance is deleted, without waiting for AWS
	awaitGone(t, c, kept)
}
