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

// Endpoints are the origins (scheme, host and port) that AWSProviders may name in place of AWS. Whoever may write an
// AWSProvider says there where keys and signed requests go; which places are fit for that is for who runs the operator
// to say. The zero value allows none.
type Endpoints []string

// Origin returns the part of an endpoint that Endpoints go by. Names, values and defaults are told apart no more than a
// client would: letters of any case, and a port that is the scheme's own.
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

// allowAll refuses a provider that names an endpoint which is not in the list.
func (e Endpoints) allowAll(spec *v1alpha1.AWSProviderSpec) error {
	own := spec.Endpoints
	if own == nil {
		own = &v1alpha1.ServiceEndpoints{}
	}
	return cmp.Or(e.allow("endpoint", spec.Endpoint), e.allow("endpoints.s3", own.S3), e.allow("endpoints.sqs", own.SQS),
		e.allow("endpoints.sns", own.SNS), e.allow("endpoints.sts", own.STS))
}

// allow refuses an endpoint that is not in the list; an empty one is AWS itself, or nowhere.
func (e Endpoints) allow(field, endpoint string) error {
	if endpoint == "" {
		return nil
	}
	origin, err := Origin(endpoint)
	if err != nil {
		return engine.Blocked(v1alpha1.ReasonEndpointNotAllowed, "%s: %w", field, err)
	}
	if !slices.Contains(e, origin) {
		return engine.Blocked(v1alpha1.ReasonEndpointNotAllowed, "the operator does not let AWSProviders use the endpoint %s, so nothing was sent there; remove %s, or ask the people who run the operator to add it to --allowed-endpoints", origin, field)
	}
	return nil
}
