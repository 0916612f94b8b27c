package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
)

// TokenReviewer verifies tokens of ServiceAccounts.
type TokenReviewer interface {
	// IssuesTokens reports whether the issuer is that of ServiceAccounts' tokens. It rarely sends a request.
	IssuesTokens(ctx context.Context, issuer string) (bool, error)
	// VerifyToken checks signature, issuer, expiry and audience of a token, and returns the namespace of its
	// ServiceAccount, of a deployer with its team; ErrBadToken means that it is invalid. It sends no request about this
	// token.
	VerifyToken(ctx context.Context, issuer, token string, audiences []string) (namespace string, err error)
	// ReviewToken returns the ServiceAccount of a token by a TokenReview; ErrBadToken means that it is invalid.
	ReviewToken(ctx context.Context, token string, audiences []string) (Identity, error)
}

// serviceAccount returns the ServiceAccount of a token. Kubernetes is not asked about tokens that it did not sign, that
// have expired or are for other audiences, nor for a while about one that it refused: made-up tokens cost strangers
// more than us.
func (b *Bearer) serviceAccount(ctx context.Context, issuer, token string, key [sha256.Size]byte) (Identity, error) {
	if _, refused := b.refused.Get(key); refused {
		return Identity{}, ErrBadToken
	}
	ours, err := b.reviewer.IssuesTokens(ctx, issuer)
	if err != nil {
		return Identity{}, err
	}
	if !ours {
		return Identity{}, fmt.Errorf("%w: nobody knows its issuer", ErrBadToken)
	}
	namespace, err := b.reviewer.VerifyToken(ctx, issuer, token, b.provider.cfg.Audiences)
	if errors.Is(err, ErrBadToken) {
		b.refused.Add(key, true, refusedTTL)
	}
	if err != nil {
		return Identity{}, err
	}
	return b.review(ctx, token, namespace, key)
}

// mayReview takes a token of the rate limits for new tokens of the namespace's ServiceAccounts.
func (b *Bearer) mayReview(namespace string, key [sha256.Size]byte) bool {
	if _, known := b.known.Get(key); known {
		return b.again.AllowN(b.now(), 1)
	}
	return b.teams.Wait(namespace) == 0 && b.reviews.AllowN(b.now(), 1)
}

// review sends a TokenReview, at a limited rate: a signed token becomes invalid with its ServiceAccount or its Pod.
func (b *Bearer) review(ctx context.Context, token, namespace string, key [sha256.Size]byte) (Identity, error) {
	if !b.mayReview(namespace, key) {
		return Identity{}, errTooMany
	}
	id, err := b.reviewer.ReviewToken(ctx, token, b.provider.cfg.Audiences)
	switch {
	case err == nil:
		b.known.Add(key, true, knownFor)
	case errors.Is(err, ErrBadToken):
		b.known.Remove(key)
		b.refused.Add(key, true, refusedTTL)
	}
	return id, err
}
