package deploy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/v1alpha1"
)

const (
	// keysEvery is how often keys are fetched at most: anybody can send tokens that name unknown ones.
	keysEvery = 10 * time.Second
	// keysFresh is how old keys become before they are fetched again, beside the requests that use them. A key that an
	// issuer has withdrawn counts so long; and keysLast while the issuer is away.
	keysFresh = 10 * time.Minute
	keysLast  = 6 * time.Hour
	// fetchTimeout bounds a fetch, and mostWaiting how many requests wait for one.
	fetchTimeout = 3 * time.Second
	mostWaiting  = 8
	// mostKeys bounds a key set.
	mostKeys = 100
)

var (
	errUnknownKey = errors.New("kid names a key that the issuer does not publish")
	errSignature  = errors.New("the signature does not fit")
	errBusy       = errors.New("too many requests wait for the keys of the issuer")
	errNotYet     = errors.New("newer keys of the issuer are not fetched yet")
)

// keys are the public keys of one issuer. A token whose key is known is verified without waiting for anybody; others
// cause a fetch at a bounded pace.
type keys struct {
	issuer string
	client *http.Client
	now    func() time.Time

	mu       sync.Mutex
	set      jose.JSONWebKeySet
	got      time.Time // the last successful fetch
	tried    time.Time
	failure  error         // of the last fetch
	fetching chan struct{} // closed at its end; nil: none is under way
	waiting  int
}

// newKeys returns the keys of an issuer, not fetched yet. Its certificate may be from the authorities of its caBundle.
func newKeys(issuer *v1alpha1.DeployIssuer, now func() time.Time) (*keys, error) {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the default transport is another one")
	}
	own := transport.Clone()
	if issuer.CABundle != "" {
		pool, err := trusted(own.TLSClientConfig)
		if err != nil {
			return nil, err
		}
		if !pool.AppendCertsFromPEM([]byte(issuer.CABundle)) {
			return nil, errors.New("caBundle has no certificate that can be read; give certificates as PEM")
		}
		own.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	}
	client := &http.Client{
		Timeout: fetchTimeout, Transport: identity.Bounded(own),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &keys{issuer: issuer.IssuerURL(), client: client, now: now}, nil
}

// trusted returns a copy of the authorities that the operator trusts anyway.
func trusted(cfg *tls.Config) (*x509.CertPool, error) {
	if cfg != nil && cfg.RootCAs != nil {
		return cfg.RootCAs.Clone(), nil
	}
	return x509.SystemCertPool()
}

// VerifySignature implements oidc.KeySet.
func (k *keys) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	signed, err := parse(jwt)
	if err != nil {
		return nil, err
	}
	if len(signed.Signatures) != 1 {
		return nil, fmt.Errorf("%w: it has %d signatures", errSignature, len(signed.Signatures))
	}
	candidates, err := k.find(ctx, signed.Signatures[0].Header.KeyID)
	if err != nil {
		return nil, err
	}
	for _, key := range candidates {
		if payload, err := signed.Verify(key); err == nil {
			return payload, nil
		}
	}
	return nil, errSignature
}

// parse reads a token without verifying anything.
func parse(jwt string) (*jose.JSONWebSignature, error) {
	algorithms := make([]jose.SignatureAlgorithm, 0, len(identity.Algorithms))
	for _, a := range identity.Algorithms {
		algorithms = append(algorithms, jose.SignatureAlgorithm(a))
	}
	signed, err := jose.ParseSigned(jwt, algorithms)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read as a signed token: %s", short(err.Error()))
	}
	return signed, nil
}

// find returns the keys with an ID, those without one for "". If there is none, it fetches them.
func (k *keys) find(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	found := k.known(id)
	if len(found) > 0 {
		if k.now().Sub(k.got) > keysFresh {
			k.refresh(ctx)
		}
		k.mu.Unlock()
		return found, nil
	}
	k.refresh(ctx)
	done := k.fetching
	if done == nil { // others have used up the pace: the issuer may have a new key since
		defer k.mu.Unlock()
		return nil, errNotYet
	}
	if k.waiting >= mostWaiting {
		k.mu.Unlock()
		return nil, errBusy
	}
	k.waiting++
	k.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting--
	if found := k.known(id); len(found) > 0 {
		return found, nil
	}
	return nil, k.whyNot()
}

func (k *keys) whyNot() error {
	if k.failure != nil {
		return &identity.ProviderError{Doing: "fetching the keys of the issuer", Cause: k.failure}
	}
	return errUnknownKey
}

// known returns the keys with an ID. The caller holds the lock.
func (k *keys) known(id string) []jose.JSONWebKey {
	if k.now().Sub(k.got) > keysLast {
		return nil
	}
	return k.set.Key(id)
}

// refresh begins to fetch keys, unless that is under way or was tried just now. The caller holds the lock.
func (k *keys) refresh(ctx context.Context) {
	now := k.now()
	if k.fetching != nil || !k.tried.IsZero() && now.Sub(k.tried) < keysEvery {
		return
	}
	done := make(chan struct{})
	k.fetching, k.tried = done, now
	ctx = context.WithoutCancel(ctx) // it outlives the request that began it
	go func() {
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		set, err := k.fetch(ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		defer close(done)
		k.fetching, k.failure = nil, err
		if err == nil {
			k.set, k.got = set, k.now()
		}
	}()
}

// Check returns why the keys cannot be fetched, nil if they can: those of a moment ago count.
func (k *keys) Check(ctx context.Context) error {
	k.mu.Lock()
	k.refresh(ctx)
	done := k.fetching
	k.mu.Unlock()
	if done != nil {
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failure
}

// fetch asks the issuer where its keys are, and for them (OpenID Connect Discovery 1.0).
func (k *keys) fetch(ctx context.Context) (set jose.JSONWebKeySet, err error) {
	var found struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := k.get(ctx, strings.TrimSuffix(k.issuer, "/")+"/.well-known/openid-configuration", &found); err != nil {
		return set, err
	}
	if found.Issuer != k.issuer {
		return set, fmt.Errorf("the server at %s says that it is the issuer %q", k.issuer, short(found.Issuer))
	}
	at, err := url.Parse(found.Keys)
	if err != nil || at.Scheme != "https" || at.Host == "" || at.User != nil {
		return set, fmt.Errorf("the jwks_uri of the issuer %s is no https URL", k.issuer)
	}
	if err := k.get(ctx, found.Keys, &set); err != nil {
		return set, err
	}
	if len(set.Keys) == 0 || len(set.Keys) > mostKeys {
		return set, fmt.Errorf("the issuer %s publishes %d keys", k.issuer, len(set.Keys))
	}
	for _, key := range set.Keys {
		if !key.IsPublic() || !key.Valid() {
			return set, fmt.Errorf("the issuer %s publishes a key that is no valid public one", k.issuer)
		}
	}
	return set, nil
}

func (k *keys) get(ctx context.Context, address string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("the address of the issuer: %w", err)
	}
	resp, err := k.client.Do(r)
	if err != nil {
		return errors.New(identity.Clean(err.Error()))
	}
	defer func() { _ = resp.Body.Close() }() // it is read, or of no use
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", short(address), resp.Status)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return errors.New(identity.Clean(err.Error()))
	}
	if json.Unmarshal(body, into) != nil {
		return fmt.Errorf("%s answers what is not the JSON that is meant", short(address))
	}
	return nil
}
