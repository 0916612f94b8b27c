package cloud

import (
	"context"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"
)

// onByDefault are the regions of AWS's commercial partition that every account has. There will be no more: AWS has each
// region that it opened after March 20, 2019 off until an account enables it (AWS Account Management, "Enable or
// disable AWS Regions in your account").
var onByDefault = []string{
	"ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1", "ap-southeast-2", "ca-central-1", "eu-central-1",
	"eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3", "sa-east-1", "us-east-1", "us-east-2", "us-west-1", "us-west-2",
}

// commercial are the names of regions in that partition: in others there is nothing to enable, and other servers name
// theirs as they like.
var commercial = regexp.MustCompile(`^(af|ap|ca|eu|il|me|mx|sa|us)-(central|north|south|east|west|northeast|northwest|southeast|southwest)-\d+$`)

// isOptIn reports whether AWS has the region off in an account that did not enable it.
func isOptIn(region string) bool {
	return commercial.MatchString(region) && !slices.Contains(onByDefault, region)
}

// refusals are the words with which services refuse the credentials of an account in a region that it has not enabled.
// They are those for a bad key: a region that is off does not know the account's identities. EC2 and S3 have words of
// their own.
var refusals = []string{
	"AuthFailure", "UnrecognizedClientException", "InvalidClientTokenId", "InvalidAccessKeyId", "InvalidToken", "InvalidSecurity", "OptInRequired",
}

// regionError is a refusal of credentials in a region that accounts have to enable.
type regionError struct {
	region, account string
	off             bool // known to be off; else it may be the key
	err             error
}

func (e *regionError) Error() string { return e.err.Error() }

func (e *regionError) Unwrap() error { return e.err }

// noteRegion tells refusals of credentials in the region from those of the key. Whether the region is off is asked, not
// guessed: see isOff; nil where nobody can know.
func noteRegion(region, account string, off func(context.Context) bool) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		_, _ = stack.Initialize.Remove(noteRegionID) // that of the provider's own region
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc(noteRegionID,
			func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				out, meta, err := next.HandleInitialize(ctx, in)
				if slices.Contains(refusals, Code(err)) && isOptIn(region) {
					err = &regionError{region: region, account: account, off: off != nil && off(ctx), err: err}
				}
				return out, meta, err
			}), middleware.Before)
	}
}

const noteRegionID = "PorticoNoteRegion"

// isOff reports whether the region is off in the account of home's credentials. STS takes every credential that is
// good, whatever it may do, in every region that is on: if it takes these in the provider's region, and refuses them in
// the other, it is the region. One answer that is lost proves nothing. See ADR 48.
func isOff(home aws.Config, region string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		ask := func(region string) error {
			_, err := sts.NewFromConfig(home, func(o *sts.Options) { o.Region = region }).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
			return err
		}
		if region == home.Region || !slices.Contains(refusals, Code(ask(region))) {
			return false
		}
		return ask(home.Region) == nil
	}
}
