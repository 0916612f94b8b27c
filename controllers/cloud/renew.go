package cloud

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"
)

// Credentials of a role are renewed before they end: 1 to 5 minutes, and not all at once. AWS's clock is not ours, and
// a call takes time.
const (
	renewBefore = 5 * time.Minute
	renewJitter = 0.8
)

func renewEarly(o *aws.CredentialsCacheOptions) {
	o.ExpiryWindow, o.ExpiryWindowJitterFrac = renewBefore, renewJitter
}

// sessionEnded are the codes by which AWS says that the credentials of a role have ended. EC2 says RequestExpired of
// calls, too, that are too old: the second try tells.
var sessionEnded = map[string]struct{}{"ExpiredToken": {}, "ExpiredTokenException": {}, "RequestExpired": {}}

// withSession returns cfg with credentials that are got from the provider as often as it takes.
func withSession(cfg aws.Config, provider aws.CredentialsProvider) aws.Config {
	cache := aws.NewCredentialsCache(provider, renewEarly)
	cfg.Credentials = cache
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), renewWhenEnded(cache))
	return cfg
}

// renewWhenEnded forgets credentials that AWS says have ended, whatever their time: the SDK's next try of the same call
// gets new ones.
func renewWhenEnded(cache *aws.CredentialsCache) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		_, _ = stack.Finalize.Remove(renewID) // that of the role before this one
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc(renewID,
			func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
				out, meta, err := next.HandleFinalize(ctx, in)
				if _, ended := sessionEnded[Code(err)]; ended {
					cache.Invalidate()
				}
				return out, meta, err
			}), "Retry", middleware.After)
	}
}

const renewID = "PorticoRenewSession"
