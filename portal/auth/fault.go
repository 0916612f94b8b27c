package auth

import (
	"errors"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/portico-platform/portico/api/identity"
)

// errNonce means that an ID token is from another sign-in.
var errNonce = errors.New("its nonce is not the one of this sign-in")

// faultWords returns, for the user, what is wrong with an ID token from the provider.
func faultWords(err error) string {
	bad, ok := errors.AsType[*identity.TokenError](err)
	switch {
	case errors.Is(err, errNonce):
		return "The identity provider's answer was not meant for this sign-in. Sign in again."
	case !ok:
		return "The identity provider's answer cannot be read. If it lasts, tell the people who run the portal: " +
			"its log says what is wrong."
	}
	switch bad.Fault {
	case identity.UnknownKey:
		return "The identity provider signed its answer with a key that it does not publish. " +
			"It may have changed its keys just now: try again in a minute. If it lasts, tell the people who run it."
	case identity.Ended:
		return "The identity provider's answer had ended when it came, by the portal's clock. " +
			"One of the two clocks is wrong, or its tokens end within moments. Tell the people who run the portal."
	case identity.OtherIssuer:
		return "The identity provider's answer names another issuer than the one that the portal is set to. " +
			"Tell the people who run the portal: --oidc-issuer-url must be the issuer letter by letter."
	case identity.OtherAudience:
		return "The identity provider's answer was not meant for this portal, but for another application. " +
			"Tell the people who run the portal: --oidc-client-id must be among the audiences of its ID tokens."
	}
	return "The identity provider's answer cannot be used."
}

// endOf returns when a newly issued token expires, by the portal's clock: the provider's clock may be wrong.
func endOf(tok *oidc.IDToken, now time.Time) time.Time {
	off := now.Sub(tok.IssuedAt)
	if off.Abs() > identity.IssuedSlack { // it was issued earlier
		return tok.Expiry
	}
	return tok.Expiry.Add(off)
}
