package check

import (
	"context"
	"log/slog"
	"time"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/spoken"
)

// reachAgain is the pause after the first failed look for the identity provider.
const reachAgain = time.Second

// IdentityProvider returns the check that a program has reached its identity provider once: reach returns why it
// cannot. A program that has never done so must not take the place of one that has. Later an outage of the provider
// must not make all replicas unready, for who is signed in goes on working.
//
// The problem is in words for everybody; the log has the cause, each time that the problem is another.
func IdentityProvider(log *slog.Logger, issuer string, reach func(context.Context) error) Check {
	logged := ""
	return Once(Check{
		Name: "identityprovider", Public: true, First: reachAgain,
		Run: func(ctx context.Context) ([]Problem, error) {
			err := reach(ctx)
			if err == nil {
				return nil, nil
			}
			says, fix := identity.WhyUnreachable(err)
			if says != logged { // a name may have many addresses, which take turns
				log.Warn("the identity provider cannot be used", "issuer", issuer, "cause",
					spoken.Stable(identity.Clean(err.Error())))
				logged = says
			}
			return []Problem{{Object: "the identity provider " + identity.Clean(issuer), Says: says, Fix: fix}}, nil
		},
	})
}
