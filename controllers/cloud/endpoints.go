package cloud

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Endpoints are the origins (scheme, host and port) that AWSProviders can name instead of AWS. Authors of an
// AWSProvider decide where keys and signed requests are sent, so the operator's configuration limits the destinations.
// The zero value allows none.
type Endpoints []string

// Origin returns the normalised origin of an endpoint, as compared with Endpoints: lower case, and without the scheme's
// default port.
func Origin(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("%q is no http or https URL with a host", endpoint)
	case u.User != nil:
		return "", fmt.Errorf("an endpoint holds no user name and no password")
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%q has a query or a fragment, which an endpoint has not", endpoint)
	}
	host := strings.ToLower(u.Host)
	if own := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; strings.HasSuffix(host, own) {
		host = strings.TrimSuffix(host, own)
	}
	return u.Scheme + "://" + host, nil
}

// allowAll refuses a provider with an endpoint that is not in the list.
func (e Endpoints) allowAll(spec *v1alpha1.AWSProviderSpec) error {
	own := spec.Endpoints
	if own == nil {
		own = &v1alpha1.ServiceEndpoints{}
	}
	return cmp.Or(e.allow("endpoint", spec.Endpoint), e.allow("endpoints.s3", own.S3),
		e.allow("endpoints.sqs", own.SQS),
		e.allow("endpoints.sns", own.SNS), e.allow("endpoints.sts", own.STS))
}

// allow refuses an endpoint that is not in the list; an empty one means AWS, or no endpoint.
func (e Endpoints) allow(field, endpoint string) error {
	if endpoint == "" {
		return nil
	}
	origin, err := Origin(endpoint)
	if err != nil {
		return engine.Blocked(v1alpha1.ReasonEndpointNotAllowed, "%s: %w", field, err)
	}
	if !slices.Contains(e, origin) {
		return engine.Blocked(v1alpha1.ReasonEndpointNotAllowed, "the operator does not let AWSProviders use the "+
			"endpoint %s, so nothing was sent there; remove %s, or ask the people who run the operator to add it to "+
			"--allowed-endpoints", origin, field)
	}
	return nil
}
