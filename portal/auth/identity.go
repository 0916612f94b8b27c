// Package auth authenticates callers: users by OpenID Connect and a sealed session cookie, programs by bearer token.
package auth

import (
	"context"

	"github.com/portico-platform/portico/api/identity"
)

// Identity is a verified caller.
type Identity = identity.Identity

// RefusedError is why a user is refused; Reason is for the user.
type RefusedError = identity.RefusedError

// ProviderError reports that the identity provider could not be reached, or failed: then it wraps an *AnswerError.
type ProviderError = identity.ProviderError

// ErrBadToken reports that a bearer token is not valid for this portal.
var ErrBadToken = identity.ErrBadToken

// serviceAccountPrefix is the prefix of the usernames of ServiceAccounts.
const serviceAccountPrefix = "system:serviceaccount:"

// ServiceAccountName splits system:serviceaccount:<namespace>:<name>.
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
	kubernetesKey
)

// WithIdentity returns a context for a request made by id.
func WithIdentity(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey, id)
}

// FromContext returns the caller of the request; false if nobody is signed in.
func FromContext(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey).(Identity)
	return id, ok
}

// WithToken returns a context for a request with the user's own token, for a server that verifies it itself.
func WithToken(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, tokenKey, token)
}

// Token returns the user's own token, or "" if the request has none. It must be sent to the operator only.
func Token(ctx context.Context) string {
	token, _ := ctx.Value(tokenKey).(string)
	return token
}

// kubernetesToken is a caller's token that Kubernetes takes.
type kubernetesToken struct{ username, token string }

// withKubernetesToken returns a context for a request of a caller whose token Kubernetes takes as well.
func withKubernetesToken(ctx context.Context, id Identity, token string) context.Context {
	return context.WithValue(ctx, kubernetesKey, kubernetesToken{id.Username, token})
}

// KubernetesToken returns id's own token if Kubernetes takes it, and id makes this request; else "". It must be sent to
// Kubernetes only.
func KubernetesToken(ctx context.Context, id Identity) string {
	own, _ := ctx.Value(kubernetesKey).(kubernetesToken)
	if own.username != id.Username {
		return ""
	}
	return own.token
}
