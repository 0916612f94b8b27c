//go:build integration

package integration

import (
	"maps"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/tiers"
)

// TestARestoredDatabaseHasTheRowsOfItsSnapshot writes a row to a real server, deletes its RDSInstance with a final
// snapshot, and reads the row from a new one. An instance beside it has neither the row nor the users.
func TestARestoredDatabaseHasTheRowsOfItsSnapshot(t *testing.T) {
	tiers.Long(t)
	c, _, dialer := withDatabases(t)
	for _, engine := range []string{"postgres", "mariadb"} {
		t.Run(engine, func(t *testing.T) {
			ns := team(t, c)
			of := func(name string, change func(*v1alpha1.RDSInstanceSpec)) *v1alpha1.RDSInstance {
				return databaseOf(ns, name, func(s *v1alpha1.RDSInstanceSpec) {
					s.Engine, s.EngineVersion, s.DBName = engine, "", "ledger"
					change(s)
				})
			}
			old := of("old", func(s *v1alpha1.RDSInstanceSpec) { s.FinalSnapshotIdentifier = ns + "-last" })
			beside := of("beside", func(s *v1alpha1.RDSInstanceSpec) { s.SkipFinalSnapshot = true })
			createReady(t, c, old)
			createReady(t, c, beside)
			before := bound(t, c, old)
			db := connections(t, dialer, before)
			for _, s := range []string{"CREATE TABLE entries (id int)", "INSERT INTO entries VALUES (42)"} {
				if _, err := db.ExecContext(t.Context(), s); err != nil {
					t.Fatalf("%s: %v", s, err)
				}
			}
			other := bound(t, c, beside)
			if other["port"] == before["port"] {
				t.Error("two instances have the same server")
			}
			wrong := maps.Clone(before)
			wrong["port"] = other["port"]
			if err := connections(t, dialer, wrong).PingContext(t.Context()); err == nil {
				t.Error("the password of one instance is valid at another")
			}
			gone(t, c, old)
			if err := db.PingContext(t.Context()); err == nil {
				t.Error("a deleted database answers")
			}
			again := of("again", func(s *v1alpha1.RDSInstanceSpec) {
				s.RestoreFrom, s.DBName = &v1alpha1.RDSRestoreFrom{SnapshotIdentifier: ns + "-last"}, ""
				s.SkipFinalSnapshot = true
			})
			createReady(t, c, again)
			after, id := bound(t, c, again), 0
			if after["password"] == before["password"] {
				t.Error("the password is that of the old database")
			}
			await(t, "the restored database takes its own password", func() (bool, string) {
				restored := connections(t, dialer, bound(t, c, again))
				err := restored.QueryRowContext(t.Context(), "SELECT id FROM entries").Scan(&id)
				if err != nil {
					return false, err.Error()
				}
				return id == 42, "another row"
			})
		})
	}
}
