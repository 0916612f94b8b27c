package cloud

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"
)

// Role credentials are renewed 1 to 5 minutes before they expire, and not all at once. AWS's clock differs from ours,
// and a call takes time.
const (
	renewBefore = 5 * time.Minute
	renewJitter = 0.8
)

func renewEarly(o *aws.CredentialsCacheOptions) {
	o.ExpiryWindow, o.ExpiryWindowJitterFrac = renewBefore, renewJitter
}

// sessionEnded are the codes for expired role credentials. EC2 also returns RequestExpired for calls that are too old:
// the retry shows which it was.
var sessionEnded = map[string]struct{}{"ExpiredToken": {}, "ExpiredTokenException": {}, "RequestExpired": {}}

// withSession returns cfg with credentials that are renewed from the provider as needed.
func withSession(cfg aws.Config, provider aws.CredentialsProvider) aws.Config {
	cache := aws.NewCredentialsCache(provider, renewEarly)
	cfg.Credentials = cache
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), renewWhenEnded(cache))
	return cfg
}

// renewWhenEnded invalidates cached credentials that AWS reports as expired, whatever their expiry time: the SDK's
// retry of the call gets new ones.
func renewWhenEnded(cache *aws.CredentialsCache) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		_, _ = stack.Finalize.Remove(renewID) // that of the previous role in the chain
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc(renewID,
			func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
				middleware.FinalizeOutput, middleware.Metadata, error,
			) {
				out, meta, err := next.HandleFinalize(ctx, in)
				if _, ended := sessionEnded[Code(err)]; ended {
					cache.Invalidate()
				}
				return out, meta, err
			}), "Retry", middleware.After)
	}
}

const renewID = "PorticoRenewSession"
