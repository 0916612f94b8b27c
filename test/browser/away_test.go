//go:build browser

package browser

import (
	"context"
	"testing"

	"github.com/portico-platform/portico/test/tiers"
)

// TestTheIdentityProviderIsAway checks what visitors and admins see during an outage of the provider, and that the
// messages disappear after it. The portal is restarted during the outage: a running one reports it only after two
// failed checks, which takes longer.
func TestTheIdentityProviderIsAway(t *testing.T) {
	tiers.Long(t)
	admin := open(t)
	admin.signIn("platform-admin", "_platform")
	visitor := open(t)
	for _, x := range []*tab{admin, visitor} {
		x.away.Store(true)
	}
	dex := world.Part("dex")
	admin.must(dex.Stop())
	t.Cleanup(func() {
		if dex.PID() == 0 {
			admin.must(dex.Start(context.WithoutCancel(t.Context())))
		}
	})
	admin.goTo("/admin")
	admin.await(`#features`, "Nobody can sign in")
	admin.every("admin-sign-in-away")
	visitor.goTo("/")
	visitor.await(`main`, "Signing in does not work right now.")
	visitor.every("sign-in-away")

	admin.must(dex.Start(context.WithoutCancel(t.Context())))
	admin.awaitTrue(`!document.querySelector("#features").innerText.includes("Nobody can sign in")`) // without a reload
	visitor.signIn("payments-dev", "payments")
}
