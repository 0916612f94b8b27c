package auth

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"
	lru "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/portal/limit"
)

const (
	// bearerTTL is how long a verified token is cached.
	bearerTTL = 10 * time.Second
	// maxToken bounds what is decoded before anything is verified.
	maxToken = 16 << 10
	// refusedTTL is how long a refused token is cached. It is short because the token of a new Pod may not be known yet
	// to the API server that reviews it.
	refusedTTL = 5 * time.Second
	// reviewRate and reviewBurst limit the reviews of new tokens, per second and at once, to protect the API server.
	// Only tokens that Kubernetes has signed for this portal count.
	reviewRate, reviewBurst = 20, 50
	// teamRate and teamBurst limit those for the ServiceAccounts of one namespace.
	teamRate, teamBurst = 2, 10
	// Tokens that were valid within knownFor have their own rate, which new ones cannot use up.
	knownRate, knownBurst = 100, 500
	knownFor              = time.Hour
	bearers               = 10_000
)

// Bearer authenticates requests with a bearer token. It ignores cookies.
type Bearer struct {
	provider *Provider
	reviewer TokenReviewer
	revoked  Revocations
	verified *lru.LRUExpireCache
	known    *lru.LRUExpireCache // digests of ServiceAccount tokens that were valid lately
	refused  *lru.LRUExpireCache // digests of refused ones
	teams    *limit.Limiter      // of new tokens, by namespace
	reviews  *rate.Limiter       // of new tokens
	again    *rate.Limiter       // of known tokens
	now      func() time.Time
	log      *slog.Logger
}

// caller is a verified token's identity and lifetime.
type caller struct {
	id      Identity
	issued  time.Time // by the provider; zero if unknown
	expires time.Time // zero: never
	// reviewed reports that Kubernetes verified the token: it can become invalid early, with its ServiceAccount or its
	// Pod.
	reviewed bool
}

// NewBearer returns a Bearer that accepts tokens of the provider for the configured audiences, unless revoked, and
// tokens of ServiceAccounts.
func NewBearer(p *Provider, reviewer TokenReviewer, revoked Revocations, c clock.PassiveClock,
	log *slog.Logger,
) *Bearer {
	return &Bearer{
		provider: p, reviewer: reviewer, revoked: revoked, verified: lru.NewLRUExpireCacheWithClock(bearers, c),
		known: lru.NewLRUExpireCacheWithClock(bearers, c), refused: lru.NewLRUExpireCacheWithClock(bearers, c),
		teams:   limit.New(limit.Rate{PerSecond: teamRate, Burst: teamBurst}, c),
		reviews: rate.NewLimiter(reviewRate, reviewBurst), again: rate.NewLimiter(knownRate, knownBurst), now: c.Now,
		log: log,
	}
}

var (
	errNoToken  = errors.New("no bearer token")
	errTooMany  = errors.New("too many new tokens at once")
	errMalforms = errors.New("malformed token")
	errTooLong  = fmt.Errorf("%w: it is longer than %d KiB", errMalforms, maxToken>>10)
)

// CLI returns the settings with which command-line tools sign in; callers need no session.
func (b *Bearer) CLI(ctx context.Context) CLI { return b.provider.CLI(ctx) }

// Refuse responds to a refused request; detail is for the caller.
type Refuse func(w http.ResponseWriter, r *http.Request, status int, detail string)

// Require passes on requests with a valid token, with their identity in the context.
func (b *Bearer) Require(refuse Refuse) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			token, err := bearerToken(r)
			var c caller
			if err == nil {
				c, err = b.caller(r.Context(), token)
			}
			if err == nil {
				err = b.counts(c)
			}
			if err != nil {
				b.refuse(w, r, err, refuse)
				return
			}
			note(r.Context(), c.id)
			ctx := withWay(WithIdentity(r.Context(), c.id), r.UserAgent())
			switch _, _, deployer := deploy.Parse(c.id.Username); {
			case !c.reviewed:
				ctx = WithToken(ctx, token)
			case deployer:
				ctx = withKubernetesToken(ctx, c.id, token)
			}
			alive := func() error { return b.alive(ctx, c, token) }
			next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, sessionKey, alive)))
		})
	}
}

// bearerToken returns the request's token and removes it from the headers, and the cookies too, which are ignored.
func bearerToken(r *http.Request) (string, error) {
	headers := r.Header.Values("Authorization")
	r.Header.Del("Authorization")
	r.Header.Del("Cookie")
	if len(headers) != 1 {
		return "", errNoToken
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", errNoToken
	}
	return token, nil
}

// counts returns an error if a user's token is no longer accepted although it has not expired.
func (b *Bearer) counts(c caller) error {
	switch {
	case c.reviewed: // a ServiceAccount has no sessions
		return nil
	case !b.revoked.Loaded():
		return errNotLoaded
	case b.revoked.Revoked(UserRef(c.id.Username, c.issued)):
		return errByAdmin
	case !b.now().Before(c.issued.Add(LongestSession)): // its revocation may have been removed from the list
		return errTooOld
	}
	return nil
}

// alive returns nil while the token is valid, else errEnded. It asks Kubernetes about its own tokens each time; if
// Kubernetes does not answer, the token stays valid until it expires.
func (b *Bearer) alive(ctx context.Context, c caller, token string) error {
	if !c.expires.IsZero() && !b.now().Before(c.expires) {
		return errEnded
	}
	if !c.reviewed {
		return b.counts(c)
	}
	if _, err := b.caller(ctx, token); errors.Is(err, ErrBadToken) {
		return errEnded
	}
	return nil
}

func (b *Bearer) caller(ctx context.Context, token string) (caller, error) {
	key := sha256.Sum256([]byte(token))
	if v, ok := b.verified.Get(key); ok {
		return v.(caller), nil
	}
	c, err := b.verify(ctx, token, key)
	if err != nil {
		return caller{}, err
	}
	keep := bearerTTL
	if !c.expires.IsZero() {
		keep = min(keep, c.expires.Sub(b.now()))
	}
	b.verified.Add(key, c, keep)
	return c, nil
}

// verify verifies the token with the issuer that it names; nothing else in it is used before that.
func (b *Bearer) verify(ctx context.Context, token string, key [sha256.Size]byte) (caller, error) {
	said, err := claimsOf(token)
	if err != nil {
		return caller{}, err
	}
	if said.Issuer != b.provider.cfg.IssuerURL {
		id, err := b.serviceAccount(ctx, said.Issuer, token, key)
		return caller{id: id, expires: said.end(), reviewed: true}, err
	}
	tok, err := b.provider.verify(ctx, token, b.provider.cfg.Audiences)
	if err != nil {
		return caller{}, err
	}
	id, err := b.provider.identity(tok)
	return caller{id: id, issued: tok.IssuedAt, expires: tok.Expiry}, err
}

// claims are the unverified claims of a token.
type claims struct {
	Issuer  string  `json:"iss"`
	Expires float64 `json:"exp"` // seconds since 1970
}

// end returns when the token expires, or zero for a token without an expiry.
func (c claims) end() time.Time {
	if c.Expires <= 0 || c.Expires > math.MaxInt32*100 {
		return time.Time{}
	}
	return time.Unix(int64(c.Expires), 0)
}

// IssuerOf returns the issuer that a token names, or "" if the token cannot be read. Nothing is verified.
func IssuerOf(token string) string {
	said, _ := claimsOf(token)
	return said.Issuer
}

func claimsOf(token string) (claims, error) {
	payload, err := payloadOf(token)
	if err != nil {
		return claims{}, err
	}
	var said claims
	if err := json.Unmarshal(payload, &said); err != nil {
		return claims{}, errMalforms
	}
	return said, nil
}

func (b *Bearer) refuse(w http.ResponseWriter, r *http.Request, err error, refuse Refuse) {
	var refused *RefusedError
	switch {
	case errors.Is(err, errNoToken):
		w.Header().Set("WWW-Authenticate", `Bearer realm="portico"`)
		refuse(w, r, http.StatusUnauthorized, "send a bearer token for this API in the Authorization header")
	case errors.Is(err, errTooMany):
		w.Header().Set("Retry-After", "1")
		refuse(w, r, http.StatusTooManyRequests, "too many new tokens of ServiceAccounts at once; try again in "+
			"a second")
	case errors.As(err, &refused):
		refuse(w, r, http.StatusForbidden, refused.Reason)
	case errors.Is(err, errEnded):
		w.Header().Set("WWW-Authenticate", `Bearer realm="portico", error="invalid_token"`)
		refuse(w, r, http.StatusUnauthorized, TokenEnding(err))
	case errors.Is(err, errTooLong):
		w.Header().Set("WWW-Authenticate", `Bearer realm="portico", error="invalid_token"`)
		refuse(w, r, http.StatusUnauthorized,
			fmt.Sprintf("the token is longer than %d KiB, which is the most that is taken: "+
				"it names too many groups. Ask the people who run the identity provider to send only those that "+
				"matter here", maxToken>>10))
	case errors.Is(err, ErrBadToken), errors.Is(err, errMalforms):
		w.Header().Set("WWW-Authenticate", `Bearer realm="portico", error="invalid_token"`)
		refuse(w, r, http.StatusUnauthorized, "the token is not valid here: it may have expired, or be for another "+
			"audience")
	case r.Context().Err() != nil: // the caller has gone, which says nothing about the verifier
		refuse(w, r, http.StatusServiceUnavailable, "the token cannot be verified at the moment; try again")
	default:
		w.Header().Set("Retry-After", "2")
		b.log.ErrorContext(r.Context(), "verifying a bearer token", "error", err, "requestID", RequestID(r.Context()))
		refuse(w, r, http.StatusServiceUnavailable, "the token cannot be verified at the moment; try again")
	}
}
