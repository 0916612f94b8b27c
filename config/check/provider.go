package check

import (
	"context"

	"github.com/portico-platform/portico/api/identity"
)

// IdentityProvider returns the check that a program has reached its identity provider once: reach returns why it
// cannot. A program that has never done so must not take the place of one that has. Later an outage of the provider
// must not make all replicas unready, for who is signed in goes on working.
func IdentityProvider(issuer string, reach func(context.Context) error) Check {
	return Once(Check{
		Name: "identityprovider", Public: true,
		Run: func(ctx context.Context) ([]Problem, error) {
			err := reach(ctx)
			if err == nil {
				return nil, nil
			}
			says, fix := identity.WhyUnreachable(err)
			return []Problem{{Object: "the identity provider " + identity.Clean(issuer), Says: says, Fix: fix}}, nil
		},
	})
}
