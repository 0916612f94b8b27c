//go:build browser

package browser

import (
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/databases"
	"github.com/portico-platform/portico/test/stack"
)

// TestADatabaseUserIsRequestedInTheBrowser requests a user in a real database, watches it become Ready, and deletes it.
func TestADatabaseUserIsRequestedInTheBrowser(t *testing.T) {
	fleet, err := databases.StartFleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fleet.Stop)
	bundle, err := os.ReadFile(fleet.CAFile)
	if err == nil {
		err = os.WriteFile(world.DatabaseCAFile(), bundle, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	world.Proxy.LeadDatabases(fleet)
	t.Cleanup(func() { world.Proxy.LeadDatabases(nil) })
	shop := readyDatabase(t, platform(t))

	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo("/teams/payments/new/databaseusers")
	x.every("form-databaseusers")
	x.fill(`[name="metadata.name"]`, "shop-app")
	x.choose("spec.databaseRef.name", shop)
	x.reviews("Looks good.")
	x.click(`button[value="create"]`)
	x.awaitPath("/teams/payments/databaseusers/shop-app")
	x.await(`#status`, "Ready")
	x.await(`#body`, "portico_shop_app_")
	x.every("detail-databaseusers")
	x.discards("databaseusers", "shop-app")
	x.discards("rdsinstances", shop) // other tests expect an empty list
}

// readyDatabase creates a database with a real server behind it, and waits until it is Ready.
func readyDatabase(t *testing.T, c client.Client) (name string) {
	t.Helper()
	i := &v1alpha1.RDSInstance{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "shop-db"},
		Spec: v1alpha1.RDSInstanceSpec{
			AWSSpec: v1alpha1.AWSSpec{ProviderRef: v1alpha1.LocalRef{Name: stack.Provider}}, Engine: "postgres",
			DBInstanceClass:  "db.t4g.micro",
			AllocatedStorage: 20, MasterUsername: "owner", DBName: "shop",
		},
	}
	i.Spec.SkipFinalSnapshot = true
	if err := c.Create(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !i.Status.Ready; time.Sleep(100 * time.Millisecond) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(i), i); err != nil || time.Now().After(deadline) {
			t.Fatalf("the database does not become Ready: %v, %+v", err, i.Status.Conditions)
		}
	}
	return i.Name
}
