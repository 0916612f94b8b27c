package cloud

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Services are the endpoints of a provider's services. The zero value is AWS.
type Services struct {
	// All is the endpoint of the services without their own; empty: AWS's.
	All string
	// Own has the endpoints of single services, by the SDK's service ID. Without All there are no other services.
	Own map[string]string
}

// s3Control is the ID of the service that tags buckets in addition to S3, at the same endpoint.
const s3Control = "S3 Control"

// Stated reports whether the account of such a provider is taken from its spec, because it has no STS.
func Stated(spec *v1alpha1.AWSProviderSpec) bool { return !servicesOf(spec).Offers(sts.ServiceID) }

func servicesOf(spec *v1alpha1.AWSProviderSpec) Services {
	s := Services{All: spec.Endpoint, Own: map[string]string{}}
	if e := spec.Endpoints; e != nil {
		for service, endpoint := range map[string]string{
			s3.ServiceID: e.S3, s3Control: e.S3, sqs.ServiceID: e.SQS,
			sns.ServiceID: e.SNS, sts.ServiceID: e.STS,
		} {
			if endpoint != "" {
				s.Own[service] = endpoint
			}
		}
	}
	return s
}

// Endpoint returns the endpoint of a service; empty: AWS's, or none. See Offers.
func (s Services) Endpoint(service string) string {
	if own := s.Own[service]; own != "" {
		return own
	}
	return s.All
}

// Offers reports whether the provider has the service.
func (s Services) Offers(service string) bool {
	return s.All != "" || len(s.Own) == 0 || s.Own[service] != ""
}

// at returns cfg for clients of one service.
func (s Services) at(cfg aws.Config, service string) aws.Config {
	if endpoint := s.Endpoint(service); endpoint != "" {
		cfg = cfg.Copy()
		cfg.BaseEndpoint = &endpoint
		cfg.ConfigSources = append([]any{fixedEndpoint(endpoint)}, cfg.ConfigSources...)
	}
	return cfg
}

// fixedEndpoint overrides endpoints in the operator's environment.
type fixedEndpoint string

// GetServiceBaseEndpoint returns the endpoint for every service; the SDK looks for this method.
func (f fixedEndpoint) GetServiceBaseEndpoint(context.Context, string) (string, bool, error) {
	return string(f), true, nil
}

// onlyOffered refuses calls of services that the provider does not have: without an endpoint the SDK would call AWS.
func (s Services) onlyOffered(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("PorticoOnlyOffered",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
			middleware.InitializeOutput, middleware.Metadata, error,
		) {
			if service := awsmiddleware.GetServiceID(ctx); !s.Offers(service) {
				return middleware.InitializeOutput{}, middleware.Metadata{},
					engine.Blocked(v1alpha1.ReasonServiceNotOffered,
						"the provider has no %s: its endpoints name all of its services, %s. Nothing was called. Ask "+
							"a platform admin to add the service to endpoints, or to set endpoint; or choose another "+
							"provider", service, s.list())
			}
			return next.HandleInitialize(ctx, in)
		}), middleware.After)
}

// list names the services with their own endpoints.
func (s Services) list() string {
	return strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(s.Own)), func(service string) bool {
		return service == s3Control
	}), ", ")
}

// Lacks reports whether err means that the provider does not have the service, or that the server at its endpoint does
// not implement the call. AWS implements them all.
func (s *Session) Lacks(service string, err error) bool {
	switch {
	case err == nil:
		return false
	case !s.Services.Offers(service):
		return true
	case s.Services.Endpoint(service) == "":
		return false
	}
	if classOf(err) == lacking || HasCode(err, "InvalidAction") || HasCode(err, "UnknownOperationException") {
		return true
	}
	answer, ok := errors.AsType[*awshttp.ResponseError](err)
	return ok && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented},
		answer.HTTPStatusCode())
}

// ConfigFor returns the configuration for clients of one service, by the SDK's service ID.
func (s *Session) ConfigFor(service string) aws.Config { return s.Services.at(s.Config, service) }
