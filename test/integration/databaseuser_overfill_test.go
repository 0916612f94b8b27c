//go:build integration

package integration

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	dbserver "github.com/portico-platform/portico/controllers/databaseuser/server"
	realdb "github.com/portico-platform/portico/test/databases"
	"github.com/portico-platform/portico/test/tiers"
)

// mostMemory is a quarter of the operator's limit in the chart, in kB.
const mostMemory = 256 << 10

// peak returns the peak memory of a process, in kB.
func peak(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kB, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB
}

// fillings are the statements with which users with the access Read, and others, can fill a database.
var fillings = map[string][]string{
	"postgres": {`DO $$ BEGIN SET ROLE NONE; EXECUTE format('ALTER ROLE %I SET search_path = %L', session_user, repeat('a', 100000000)); END $$`},
	"mariadb":  nil,
}

// A database user who fills what the operator reads there does not affect other teams: the operator, in its own
// process, stays far below its memory limit, and continues to manage that user, too.
func TestAUserOfADatabaseCannotFillTheOperator(t *testing.T) {
	tiers.Long(t)
	fleet, err := realdb.StartFleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fleet.Stop)
	world.Proxy.LeadDatabases(fleet)
	t.Cleanup(func() { world.Proxy.LeadDatabases(nil) })
	c, dialer := admin(t), dbserver.Dialer{CAFile: fleet.CAFile, Loopback: true}
	o := deployOperator(t, "operator", "--loopback-databases", "--database-ca-file", fleet.CAFile)
	engines, views, passes := []string{"postgres"}, 500, 1
	if tiers.EveryCase() {
		engines, views, passes = append(engines, "mariadb"), 2000, 3
	}
	for _, engine := range engines {
		i := databaseOf(team(t, c), "shop", func(s *v1alpha1.RDSInstanceSpec) {
			s.Engine, s.EngineVersion, s.DBName, s.SkipFinalSnapshot = engine, "", "shop_orders", true
		})
		createReady(t, c, i)
		writer, u := databaseUserOf(i, "writer"), databaseUserOf(i, "greedy")
		u.Spec.Access = v1alpha1.AccessRead
		create(t, c, writer)
		create(t, c, u)
		ready(t, c, writer)
		ready(t, c, u)
		things := make([]string, 0, views)
		for n := range views {
			things = append(things, fmt.Sprintf("CREATE VIEW v%d%s AS SELECT 1 AS n", n, strings.Repeat("x", 40)))
		}
		for of, statements := range map[*v1alpha1.DatabaseUser][]string{writer: things, u: fillings[engine]} {
			db := connections(t, dialer, secretOf(t, c, of.Namespace, of.Status.Binding.Name))
			for _, s := range statements {
				if _, err := db.ExecContext(t.Context(), s); err != nil {
					t.Fatalf("%.100s: %v", s, err)
				}
			}
			_ = db.Close()
		}
		for range passes {
			wakeNow(t, c, u)
			wakeNow(t, c, writer)
			ready(t, c, u)
		}
		edit(t, c, writer, func(w *v1alpha1.DatabaseUser) { w.Spec.Access = v1alpha1.AccessRead })
		reasonWithin(t, c, writer, v1alpha1.ReasonInSync, 5*patience) // all views change their owner
		for _, one := range []*v1alpha1.DatabaseUser{u, writer} {
			if err := c.Delete(t.Context(), one); err != nil {
				t.Fatal(err)
			}
		}
		awaitGone(t, c, u)
		if engine == "mariadb" { // the statements that run while the operator manages the user
			reason(t, c, writer, v1alpha1.ReasonUserInUse)
			edit(t, c, writer, func(w *v1alpha1.DatabaseUser) { w.Spec.DeletionPolicy = v1alpha1.DeletionRetain })
		}
		awaitGone(t, c, writer)
		kB := peak(t, o.PID())
		t.Logf("%s: the operator had %d MB at the most", engine, kB>>10)
		if kB > mostMemory {
			t.Errorf("%s: %d kB, and %d are allowed", engine, kB, mostMemory)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(i), i); err != nil {
			t.Error(err)
		}
	}
}
