//go:build browser

package browser

import (
	"context"
	"testing"
)

// TestTheIdentityProviderIsAway shows what visitors and admins see of it, and that the words go when it is back. The
// portal is restarted without it: one that runs asks twice before it believes it, which takes longer.
func TestTheIdentityProviderIsAway(t *testing.T) {
	admin := open(t)
	admin.signIn("platform-admin", "_platform")
	visitor := open(t)
	for _, x := range []*tab{admin, visitor} {
		x.away.Store(true)
	}
	dex, portal := world.Part("dex"), world.Part("portal")
	admin.must(dex.Stop())
	t.Cleanup(func() {
		if dex.PID() == 0 {
			admin.must(dex.Start(context.WithoutCancel(t.Context())))
		}
	})
	admin.must(portal.Restart(context.WithoutCancel(t.Context())))
	admin.goTo("/admin")
	admin.await(`#features`, "Nobody can sign in")
	admin.every("admin-sign-in-away")
	visitor.goTo("/")
	visitor.await(`main`, "Signing in does not work right now.")
	visitor.every("sign-in-away")

	admin.must(dex.Start(context.WithoutCancel(t.Context())))
	admin.awaitTrue(`!document.querySelector("#features").innerText.includes("Nobody can sign in")`) // by itself
	visitor.signIn("payments-dev", "payments")
}
