// Package auth says who is calling: users by OpenID Connect and a sealed session cookie, programs by bearer token.
package auth

import (
	"context"

	"github.com/portico-platform/portico/api/identity"
)

// Identity is a verified caller.
type Identity = identity.Identity

// RefusedError says why a user may not come in; Reason is for the user.
type RefusedError = identity.RefusedError

// ProviderError says that the identity provider could not be asked, or has a failure of its own: then it is around an
// *AnswerError.
type ProviderError = identity.ProviderError

// ErrBadToken says that a bearer token is not valid here.
var ErrBadToken = identity.ErrBadToken

// serviceAccountPrefix begins the usernames of ServiceAccounts.
const serviceAccountPrefix = "system:serviceaccount:"

// ServiceAccountName cuts system:serviceaccount:<namespace>:<name>.
func ServiceAccountName(username string) (namespace, name string, ok bool) {
	return identity.ServiceAccountName(username)
}

type contextKey int

const (
	identityKey contextKey = iota
	requestKey
	sessionKey
	addressKey
	tokenKey
	untilKey
	wayKey
)

// WithIdentity returns a context for a request made by id.
func WithIdentity(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey, id)
}

// FromContext returns the caller of the request, and false when nobody is signed in.
func FromContext(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey).(Identity)
	return id, ok
}

// WithToken returns a context for a request that brought the person's own token, for those who verify it themselves.
func WithToken(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, tokenKey, token)
}

// Token returns the person's own token, or "" if the request brought none. It must go to the operator only.
func Token(ctx context.Context) string {
	token, _ := ctx.Value(tokenKey).(string)
	return token
}
