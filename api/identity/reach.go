package identity

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/coreos/go-oidc/v3/oidc"
)

// CheckKeys fetches the key set at the address, and returns an error if there is no key in it.
func CheckKeys(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	body, err := KeySource{Address: address, Transport: http.DefaultTransport}.fetch(ctx)
	if err != nil {
		return &ProviderError{Doing: fetchingKeys, Cause: err}
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return fmt.Errorf("%s: %w", fetchingKeys, err)
	}
	if len(set.Keys) == 0 {
		return errNoKeys
	}
	return nil
}

var errNoKeys = errors.New("there are none at its jwks_uri")

// ErrNotHTTPS says that an address among the provider's settings is not secure.
var ErrNotHTTPS = errors.New("it must be https")

// UnusableError says that a provider answers as one, and cannot be used by this program. Everybody may read Says, a
// sentence of which the provider is the subject, and Fix.
type UnusableError struct {
	Says, Fix string
	Cause     error
}

func (e *UnusableError) Error() string { return e.Cause.Error() }

func (e *UnusableError) Unwrap() error { return e.Cause }

// cleanError is an error with its text made fit for a line of a log.
type cleanError struct{ cause error }

func (e *cleanError) Error() string { return Clean(e.cause.Error()) }

func (e *cleanError) Unwrap() error { return e.cause }

// Reach fetches the provider's settings and keys as Caller does, and returns why no token could be verified; see
// WhyUnreachable.
func (v *Verifier) Reach(ctx context.Context) error {
	keys, err := v.ask(ctx, Timeout)
	if err != nil {
		return err
	}
	return CheckKeys(ctx, keys.source.Address)
}

// WhyUnreachable says in a sentence, of which the provider is the subject, why it could not be used, and what to do.
// Neither has addresses of the network, nor what the provider or something in front of it answered: everybody may read
// them. They do not change while the cause is the same.
func WhyUnreachable(err error) (says, fix string) {
	const network = "look at --oidc-issuer-url, and whether DNS, a proxy and the network policies let Portico's Pods " +
		"reach it (docs/install.md)"
	if unusable, ok := errors.AsType[*UnusableError](err); ok {
		return unusable.Says, unusable.Fix
	}
	if connecting, ok := errors.AsType[*net.OpError](err); ok && connecting.Op == "proxyconnect" {
		return "cannot be reached through the proxy", "look at HTTPS_PROXY and NO_PROXY of Portico's Pods, and " +
			"whether the network policies let them reach the proxy (docs/install.md)"
	}
	if says := untrusted(err); says != "" {
		return says, "give the certificate of its authority: in the chart ca.existingConfigMap, else --ca-file"
	}
	if says := unreached(err); says != "" {
		return says, network
	}
	const look = "look at --oidc-issuer-url, which must be its issuer letter by letter, a slash at the end included; " +
		"portal --check-oidc shows what it answers"
	_, another := errors.AsType[*oidc.IssuerMismatchError](err)
	switch {
	case errors.Is(err, errNoKeys):
		return "has no keys at its jwks_uri", "ask the people who run it: without keys no token can be verified"
	case strings.Contains(err.Error(), fetchingKeys):
		return "does not give its keys", look
	case another:
		return "calls itself by another issuer URL", look
	case errors.Is(err, ErrNotHTTPS):
		return "has addresses among its settings that are not https", "ask the people who run it: behind a proxy it " +
			"must know the address that it has outside"
	}
	return "does not answer as an OpenID Connect provider that can be used", look
}

// untrusted says what is wrong with the provider's certificate; "" if nothing is.
func untrusted(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "has a certificate of an authority that is not trusted here"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "has a certificate for another name"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "has a certificate that has expired, or is not valid yet"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "has a certificate that is not valid"
	}
	return ""
}

// unreached says why the network does not lead to the provider; "" if it does.
func unreached(err error) string {
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		if name.IsNotFound {
			return "has a name that is not known here"
		}
		return "has a name that could not be resolved"
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() ||
		errors.Is(err, context.DeadlineExceeded) {
		return "does not answer in time"
	}
	for _, known := range []error{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ECONNRESET} {
		if errors.Is(err, known) {
			return "cannot be reached: " + known.Error()
		}
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return "cannot be reached"
	}
	return ""
}
