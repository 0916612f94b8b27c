package program

import (
	"context"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/config/check"
)

// ProviderCheck returns the check that the program has reached its identity provider once: reach returns why it
// cannot. A program that has never done so must not take the place of one that has. Later an outage of the provider
// must not make all replicas unready, for who is signed in goes on working.
func ProviderCheck(issuer string, reach func(context.Context) error) check.Check {
	return check.Once(check.Check{
		Name: "identityprovider", Public: true,
		Run: func(ctx context.Context) ([]check.Problem, error) {
			err := reach(ctx)
			if err == nil {
				return nil, nil
			}
			says, fix := identity.WhyUnreachable(err)
			return []check.Problem{{Object: "the identity provider " + identity.Clean(issuer), Says: says, Fix: fix}}, nil
		},
	})
}
