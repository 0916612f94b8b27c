package cloud

import (
	"context"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"
)

// onByDefault are the regions of AWS's commercial partition that every account has enabled. The list is final: regions
// that AWS opened after March 20, 2019 are off until an account enables them (AWS Account Management, "Enable or
// disable AWS Regions in your account").
var onByDefault = []string{
	"ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1", "ap-southeast-2",
	"ca-central-1", "eu-central-1",
	"eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3", "sa-east-1", "us-east-1", "us-east-2", "us-west-1",
	"us-west-2",
}

// commercial matches the region names of that partition: in others regions cannot be enabled, and other servers use
// names of their own.
var commercial = regexp.MustCompile(
	`^(af|ap|ca|eu|il|me|mx|sa|us)-(central|north|south|east|west|northeast|northwest|southeast|southwest)-\d+$`)

// isOptIn reports whether the region is off by default.
func isOptIn(region string) bool {
	return commercial.MatchString(region) && !slices.Contains(onByDefault, region)
}

// refusals are the codes with which services reject the credentials of an account that has not enabled the region. They
// equal those for an invalid key, because the region does not know the account's identities. EC2 and S3 have their own
// codes.
var refusals = []string{
	"AuthFailure", "UnrecognizedClientException", "InvalidClientTokenId", "InvalidAccessKeyId", "InvalidToken",
	"InvalidSecurity", "OptInRequired",
}

// regionError is a rejection of credentials in an opt-in region.
type regionError struct {
	region, account string
	off             bool // known to be off; else the key may be at fault
	err             error
}

func (e *regionError) Error() string { return e.err.Error() }

func (e *regionError) Unwrap() error { return e.err }

// noteRegion distinguishes credentials rejected because of the region from invalid ones. off reports whether the region
// is off, see isOff; nil if that cannot be determined.
func noteRegion(region, account string, off func(context.Context) bool) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		_, _ = stack.Initialize.Remove(noteRegionID) // that of the provider's region
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc(noteRegionID,
			func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
				middleware.InitializeOutput, middleware.Metadata, error,
			) {
				out, meta, err := next.HandleInitialize(ctx, in)
				if slices.Contains(refusals, Code(err)) && isOptIn(region) {
					err = &regionError{region: region, account: account, off: off != nil && off(ctx), err: err}
				}
				return out, meta, err
			}), middleware.Before)
	}
}

const noteRegionID = "PorticoNoteRegion"

// isOff returns a function that reports whether the region is off in the account of home's credentials. STS accepts
// every valid credential, whatever its permissions, in every enabled region: if it accepts these in the provider's
// region and rejects them in the other, that region is off. One lost response proves nothing. See ADR 48.
func isOff(home aws.Config, region string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		ask := func(region string) error {
			_, err := sts.NewFromConfig(home, func(o *sts.Options) { o.Region = region }).GetCallerIdentity(
				ctx, &sts.GetCallerIdentityInput{})
			return err
		}
		if region == home.Region || !slices.Contains(refusals, Code(ask(region))) {
			return false
		}
		return ask(home.Region) == nil
	}
}
