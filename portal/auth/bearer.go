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

	"github.com/portico-platform/portico/portal/limit"
)

const (
	// bearerTTL is how long a verified token is believed without asking again.
	bearerTTL = 10 * time.Second
	// maxToken bounds what is decoded before anything is verified.
	maxToken = 16 << 10
	// refusedTTL is how long a token that is nobody's is refused without asking again. A Pod that was made a moment ago
	// may not be known yet to who reviews its token.
	refusedTTL = 5 * time.Second
	// reviews a second, and at once: new tokens must not become a flood on the API server. Only those count that
	// Kubernetes has signed, for this portal.
	reviewRate, reviewBurst = 20, 50
	// teamRate and teamBurst are how many of them the ServiceAccounts of one namespace may spend.
	teamRate, teamBurst = 2, 10
	// Tokens that were good within knownFor have a rate of their own, which new ones cannot use up.
	knownRate, knownBurst = 100, 500
	knownFor              = time.Hour
	bearers               = 10_000
)

// Bearer says who a request with a bearer token is from. Cookies do not count.
type Bearer struct {
	provider *Provider
	reviewer TokenReviewer
	revoked  Revocations
	verified *lru.LRUExpireCache
	known    *lru.LRUExpireCache // digests of ServiceAccount tokens that were good lately
	refused  *lru.LRUExpireCache // digests of those that were nobody's
	teams    *limit.Limiter      // of new tokens, by namespace
	reviews  *rate.Limiter       // of new tokens
	again    *rate.Limiter       // of known ones
	now      func() time.Time
	log      *slog.Logger
}

// caller is a verified token's identity, beginning and end.
type caller struct {
	id      Identity
	issued  time.Time // by the provider; zero: it does not say
	expires time.Time // zero: never
	// reviewed says that Kubernetes knows whose it is: it can end sooner, with its ServiceAccount or its Pod.
	reviewed bool
}

// NewBearer takes tokens of the provider for the configured audiences, unless they began in revoked sessions, and of
// ServiceAccounts.
func NewBearer(p *Provider, reviewer TokenReviewer, revoked Revocations, c clock.PassiveClock, log *slog.Logger) *Bearer {
	return &Bearer{
		provider: p, reviewer: reviewer, revoked: revoked, verified: lru.NewLRUExpireCacheWithClock(bearers, c),
		known: lru.NewLRUExpireCacheWithClock(bearers, c), refused: lru.NewLRUExpireCacheWithClock(bearers, c),
		teams:   limit.New(limit.Rate{PerSecond: teamRate, Burst: teamBurst}, c),
		reviews: rate.NewLimiter(reviewRate, reviewBurst), again: rate.NewLimiter(knownRate, knownBurst), now: c.Now, log: log,
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

// Refuse answers a request that did not get through; detail is for the caller.
type Refuse func(w http.ResponseWriter, r *http.Request, status int, detail string)

// Require lets requests with a valid token through, with their identity in the context.
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
			if !c.reviewed {
				ctx = WithToken(ctx, token)
			}
			alive := func() error { return b.alive(ctx, c, token) }
			next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, sessionKey, alive)))
		})
	}
}

// bearerToken takes the token out of the request, and the cookies, which do not count.
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

// counts returns nil unless the token of a person counts no more, though it has not expired.
func (b *Bearer) counts(c caller) error {
	switch {
	case c.reviewed: // a ServiceAccount has no sessions
		return nil
	case !b.revoked.Loaded():
		return errNotLoaded
	case b.revoked.Revoked(UserRef(c.id.Username, c.issued)):
		return errByAdmin
	case !b.now().Before(c.issued.Add(LongestSession)): // a revocation of it may be forgotten by now
		return errTooOld
	}
	return nil
}

// alive returns nil while the token is valid, else errEnded. It asks Kubernetes about its own tokens each time; when
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

// verify asks whom the token's issuer names: nothing else is gone by before it is verified.
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

// claims are what a token says of itself.
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
		refuse(w, r, http.StatusTooManyRequests, "too many new tokens of ServiceAccounts at once; try again in a second")
	case errors.As(err, &refused):
		refuse(w, r, http.StatusForbidden, refused.Reason)
	case errors.Is(err, errEnded):
		w.Header().Set("WWW-Authenticate", `Bearer realm="portico", error="invalid_token"`)
		refuse(w, r, http.StatusUnauthorized, TokenEnding(err))
	case errors.Is(err, errTooLong):
		w.Header().Set("WWW-Authenticate", `Bearer realm="portico", error="invalid_token"`)
		refuse(w, r, http.StatusUnauthorized, fmt.Sprintf("the token is longer than %d KiB, which is the most that is taken: "+
			"it names too many groups. Ask the people who run the identity provider to send only those that matter here", maxToken>>10))
	case errors.Is(err, ErrBadToken), errors.Is(err, errMalforms):
		w.Header().Set("WWW-Authenticate", `Bearer realm="portico", error="invalid_token"`)
		refuse(w, r, http.StatusUnauthorized, "the token is not valid here: it may have expired, or be for another audience")
	case r.Context().Err() != nil: // who asked is gone, which says nothing of those that verify
		refuse(w, r, http.StatusServiceUnavailable, "the token cannot be verified at the moment; try again")
	default:
		w.Header().Set("Retry-After", "2")
		b.log.ErrorContext(r.Context(), "verifying a bearer token", "error", err, "requestID", RequestID(r.Context()))
		refuse(w, r, http.StatusServiceUnavailable, "the token cannot be verified at the moment; try again")
	}
}
