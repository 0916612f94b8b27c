package identity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

const (
	// KeysEvery is how often the provider's keys are fetched at most: anybody may send tokens signed with unknown ones.
	KeysEvery = 10 * time.Second
	// keysForIssued is how often they are fetched at most for tokens that the provider issued just now.
	keysForIssued = time.Second
	fetchingKeys  = "fetching the identity provider's keys"
	// mostTries bounds how often newer keys are asked for, and betweenTries is the pause before each time.
	mostTries    = 100
	betweenTries = 5 * time.Millisecond
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

// keyFetcher fetches keys no more often than its source allows; in between it returns the last result, good or bad,
// unless the caller waits. An invalid key set is an error, distinct from a bad token.
type keyFetcher struct {
	KeySource
	now func() time.Time

	mu   sync.Mutex
	when time.Time
	body []byte
	err  error
}

// RoundTrip holds the lock while it fetches: anyone who comes meanwhile wants the same. Requests for other addresses
// than one must not be made through it.
func (f *keyFetcher) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if wait := f.Every - f.now().Sub(f.when); f.Waits && wait > 0 {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(min(wait, f.Every)):
		}
		f.when = time.Time{}
	}
	if now := f.now(); f.when.IsZero() || now.Sub(f.when) >= f.Every {
		f.body, f.err = f.fetch(r)
		f.when = now
	}
	if f.err != nil {
		return nil, f.err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(f.body)),
	}, nil
}

// outdated reports whether the keys are from before that time, though anyone who needs newer ones gets them.
func (f *keyFetcher) outdated(began time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.when.IsZero() || f.Waits && f.when.Before(began)
}

// renew makes the next one who needs keys fetch them, and reports whether it does: not if they are new.
func (f *keyFetcher) renew() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now().Sub(f.when) < keysForIssued {
		return false
	}
	f.when = time.Time{}
	return true
}

func (f *keyFetcher) fetch(r *http.Request) ([]byte, error) {
	resp, err := f.Transport.RoundTrip(r)
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

// Keys verifies signatures with the provider's keys. The verifier over it drops the kind of an error, so that an
// outage is noted in the context: see withOutage.
type Keys struct {
	remote  oidc.KeySet
	fetcher *keyFetcher
}

// NewKeys returns the keys at the address; they are fetched when they are needed.
func NewKeys(ctx context.Context, address string, now func() time.Time) *Keys {
	return NewKeysFrom(ctx, KeySource{Address: address, Transport: http.DefaultTransport, Every: KeysEvery}, now)
}

// NewKeysFrom returns the keys of the source; they are fetched when they are needed.
func NewKeysFrom(ctx context.Context, from KeySource, now func() time.Time) *Keys {
	fetcher := &keyFetcher{KeySource: from, now: now}
	client := &http.Client{Transport: fetcher, Timeout: Timeout}
	return &Keys{remote: oidc.NewRemoteKeySet(oidc.ClientContext(ctx, client), from.Address), fetcher: fetcher}
}

// VerifySignature implements oidc.KeySet.
func (k *Keys) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	began := k.fetcher.now()
	payload, err := k.verify(ctx, jwt, began)
	if issued, _ := ctx.Value(issuedKey).(bool); err != nil && issued && !isFetching(err) && k.fetcher.renew() {
		payload, err = k.verify(ctx, jwt, began)
	}
	if o, ok := ctx.Value(outageKey).(*outage); ok && err != nil {
		if isFetching(err) {
			o.err = err
		} else {
			o.unknown = true
		}
	}
	return payload, err
}

// verify tries until the keys are those of now, if they can be. For a moment after a fetch the library hands out what
// it has fetched for somebody before.
func (k *Keys) verify(ctx context.Context, jwt string, began time.Time) ([]byte, error) {
	payload, err := k.remote.VerifySignature(ctx, jwt)
	for tries := 0; err != nil && k.fetcher.outdated(began) && tries < mostTries && ctx.Err() == nil; tries++ {
		select {
		case <-ctx.Done():
		case <-time.After(betweenTries):
		}
		payload, err = k.remote.VerifySignature(ctx, jwt)
	}
	return payload, err
}

// isFetching reports whether the keys could not be fetched.
func isFetching(err error) bool {
	var fetching *url.Error // what http.Client makes of any error of its transport
	return errors.As(err, &fetching) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

type contextKey int

const (
	outageKey contextKey = iota
	issuedKey            // the provider issued the token just now
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
