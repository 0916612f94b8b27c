package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// KeysEvery is how often the provider's keys are fetched at most: anybody may send tokens signed with unknown ones.
	KeysEvery = 10 * time.Second
	// keysSoon is how often they are fetched at most for tokens that the provider made just now. Such a token waits for
	// its turn: strangers may send what looks like a logout token.
	keysSoon     = time.Second
	fetchingKeys = "fetching the identity provider's keys"
	// maxKeys bounds a key set's size.
	maxKeys = 1 << 20
)

// KeySource says where keys are, and how they are fetched.
type KeySource struct {
	Address   string
	Transport http.RoundTripper
	// Every is how often they are fetched at most.
	Every time.Duration
	// Waits says that who needs them sooner waits, and does not make do with the last outcome. Every must be short
	// then.
	Waits bool
}

// fetch returns the document at the source's address. An invalid key set is an error, distinct from a bad token.
func (s KeySource) fetch(ctx context.Context) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Address, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Cache-Control", "no-cache")
	resp, err := s.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it is read, or of no use
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxKeys))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: the identity provider answered %s", fetchingKeys, resp.Status)
	case !json.Valid(body):
		return nil, errors.New(fetchingKeys + ": the identity provider answered what is not JSON")
	}
	return body, nil
}

// keySet is the keys that were published at one moment.
type keySet []jose.JSONWebKey

// parseKeys returns the keys that can verify signatures. RFC 7517, section 5: keys of an unknown kind are ignored.
// A set without any is an error: no provider that signs tokens has none.
func parseKeys(document []byte) (keySet, error) {
	var published struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(document, &published); err != nil {
		return nil, fmt.Errorf("%s: %w", fetchingKeys, err)
	}
	var set keySet
	for _, raw := range published.Keys {
		var key jose.JSONWebKey
		if err := json.Unmarshal(raw, &key); err == nil && key.IsPublic() {
			set = append(set, key)
		}
	}
	if len(set) == 0 {
		return nil, errors.New("the identity provider publishes no key that verifies signatures")
	}
	return set, nil
}

var errNoKeyFits = errors.New("no published key verifies the signature")

// verify returns the payload of a token that one of the keys has signed.
func (s keySet) verify(token *jose.JSONWebSignature) ([]byte, error) {
	id := token.Signatures[0].Header.KeyID
	for i := range s {
		if id != "" && s[i].KeyID != id {
			continue
		}
		if payload, err := token.Verify(&s[i]); err == nil {
			return payload, nil
		}
	}
	return nil, errNoKeyFits
}

// signatureAlgorithms are Algorithms in the library's type.
var signatureAlgorithms = func() []jose.SignatureAlgorithm {
	var all []jose.SignatureAlgorithm
	for _, a := range Algorithms {
		all = append(all, jose.SignatureAlgorithm(a))
	}
	return all
}()

// Keys verifies signatures with the provider's keys, and fetches them no more often than their source allows. The
// verifier over it drops the kind of an error, so that an outage is noted in the context: see withOutage.
type Keys struct {
	source KeySource
	now    func() time.Time
	// turn is held by the one caller that fetches. Those who come meanwhile wait for it.
	turn chan struct{}

	mu sync.Mutex
	// set is what was fetched last, without what failed since; tried is when the last fetch began, and failure its
	// error.
	set     keySet
	tried   time.Time
	failure error
}

// NewKeys returns the keys at the address; they are fetched when they are needed.
func NewKeys(address string, now func() time.Time) *Keys {
	return NewKeysFrom(KeySource{Address: address, Transport: http.DefaultTransport, Every: KeysEvery}, now)
}

// NewKeysFrom returns the keys of the source; they are fetched when they are needed.
func NewKeysFrom(from KeySource, now func() time.Time) *Keys {
	return &Keys{source: from, now: now, turn: make(chan struct{}, 1)}
}

// VerifySignature implements oidc.KeySet.
func (k *Keys) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	began := k.now()
	token, err := jose.ParseSigned(raw, signatureAlgorithms)
	if err != nil || len(token.Signatures) != 1 {
		return nil, errors.Join(errors.New("it is not a token with one signature"), err)
	}
	set, _, _ := k.known()
	if payload, err := set.verify(token); err == nil {
		return payload, nil
	}
	o, noted := ctx.Value(outageKey).(*outage)
	set, err = k.newer(ctx, began)
	if err != nil {
		if noted {
			o.err = err
		}
		return nil, err
	}
	payload, err := set.verify(token)
	if err != nil && noted {
		o.unknown = true
	}
	return payload, err
}

func (k *Keys) known() (set keySet, tried time.Time, failure error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.set, k.tried, k.failure
}

// newer returns the keys for a token that came at that time and that those before do not verify. It fetches them if
// that is due, and otherwise returns the outcome of the last fetch.
func (k *Keys) newer(ctx context.Context, came time.Time) (keySet, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case k.turn <- struct{}{}:
	}
	if due, err := k.due(ctx, came); err != nil || !due {
		<-k.turn
		set, _, failure := k.known()
		return set, errors.Join(err, failure)
	}
	fetched := make(chan struct{})
	go func() { // for all who wait: it goes on when this caller has left
		k.fetch(context.WithoutCancel(ctx))
		<-k.turn
		close(fetched)
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-fetched:
		set, _, failure := k.known()
		return set, failure
	}
}

// due reports whether the one who holds the turn must fetch; if source or token ask for it, it waits until
// that may be.
func (k *Keys) due(ctx context.Context, came time.Time) (bool, error) {
	_, tried, _ := k.known()
	every, waits := k.source.Every, k.source.Waits
	if soon, _ := ctx.Value(soonKey).(bool); soon {
		every, waits = min(every, keysSoon), true
	}
	wait := every - k.now().Sub(tried)
	switch {
	case tried.IsZero() || wait <= 0:
		return true, nil
	case !waits || !tried.Before(came):
		return false, nil
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(min(wait, every)):
		return true, nil
	}
}

// fetch fetches the keys and keeps the outcome.
func (k *Keys) fetch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	began := k.now()
	document, err := k.source.fetch(ctx)
	var set keySet
	if err == nil {
		set, err = parseKeys(document)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tried, k.failure = began, err
	if err == nil {
		k.set = set
	}
}

type contextKey int

const (
	outageKey contextKey = iota
	soonKey              // the provider made the token just now, or so it looks
)

// outage is why the keys could not be fetched, nil if they were but none matches.
type outage struct {
	err     error
	unknown bool
}

func withOutage(ctx context.Context) (context.Context, *outage) {
	o := &outage{}
	return context.WithValue(ctx, outageKey, o), o
}
