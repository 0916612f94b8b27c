package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// identity is the identity of the credentials.
type identity struct {
	account, arn string
	stated       bool // as declared by the provider, without STS
}

// whoIs returns the identity of the credentials from STS. Without STS it uses the provider's declared account, and
// checks that the available services accept the credentials.
func whoIs(ctx context.Context, p *v1alpha1.AWSProvider, services Services, cfg aws.Config) (identity, error) {
	if services.Offers(sts.ServiceID) {
		who, err := sts.NewFromConfig(services.at(cfg, sts.ServiceID)).GetCallerIdentity(
			ctx, &sts.GetCallerIdentityInput{})
		if err != nil {
			return identity{}, explainIdentity(services, err)
		}
		return identity{account: aws.ToString(who.Account), arn: aws.ToString(who.Arn)}, nil
	}
	if p.Spec.AccountID == "" {
		return identity{}, engine.Blocked(v1alpha1.ReasonAccountNotStated,
			"this provider has no STS to ask whose the credentials are: its endpoints name %s only. Set accountID to "+
				"the 12 digits that the server has for its account, or to any if it has none; they are taken on "+
				"trust, and become part of ARNs. Or name endpoints.sts", services.list())
	}
	for _, probe := range probes {
		if services.Own[probe.service] == "" {
			continue
		}
		if err := probe.list(ctx, services.at(cfg, probe.service)); err != nil {
			return identity{}, Explain(err)
		}
	}
	return identity{account: p.Spec.AccountID, stated: true}, nil
}

// explainIdentity adds advice if a server that is not AWS does not implement GetCallerIdentity. The call has no
// parameters that could be invalid; MinIO reports an invalid one.
func explainIdentity(services Services, err error) error {
	s, endpoint := Session{Services: services}, services.Endpoint(sts.ServiceID)
	const advice = "%s. The server at %s does not say whose the credentials are. If it has no STS, name the services " +
		"that it has in endpoints, remove endpoint and endpoints.sts, and set accountID"
	switch {
	case endpoint == "", isDown(err):
		return Explain(err)
	case isIllegible(err): // it may be a proxy's: working credentials are kept
		return engine.Wait(v1alpha1.ReasonAccountNotStated, time.Minute, advice, stableText(err), endpoint)
	case s.Lacks(sts.ServiceID, err), classOf(err) == invalid:
		return engine.Blocked(v1alpha1.ReasonAccountNotStated, advice, stableText(err), endpoint)
	}
	return Explain(err)
}

// isDown reports whether the server, or a proxy, reports that it is unavailable.
func isDown(err error) bool {
	answer, ok := errors.AsType[*awshttp.ResponseError](err)
	return ok && answer.HTTPStatusCode() >= http.StatusInternalServerError &&
		answer.HTTPStatusCode() != http.StatusNotImplemented
}

// probes are read-only calls that need valid credentials. Sweeps make the same calls.
var probes = []struct {
	service string
	list    func(context.Context, aws.Config) error
}{
	{s3.ServiceID, func(ctx context.Context, cfg aws.Config) error {
		_, err := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }).ListBuckets(
			ctx, &s3.ListBucketsInput{MaxBuckets: aws.Int32(1)})
		return err
	}},
	{sns.ServiceID, func(ctx context.Context, cfg aws.Config) error {
		_, err := sns.NewFromConfig(cfg).ListTopics(ctx, &sns.ListTopicsInput{})
		return err
	}},
	{sqs.ServiceID, func(ctx context.Context, cfg aws.Config) error {
		_, err := sqs.NewFromConfig(cfg).ListQueues(ctx, &sqs.ListQueuesInput{MaxResults: aws.Int32(1)})
		return err
	}},
}

// String returns the session's identity for people.
func (s *Session) String() string {
	if s.Stated {
		return fmt.Sprintf("the credentials are taken by %s; they are of account %s by the word of accountID alone, "+
			"for there is no STS", s.Services.list(), s.AccountID)
	}
	return fmt.Sprintf("the credentials are %s of account %s", s.CallerARN, s.AccountID)
}
