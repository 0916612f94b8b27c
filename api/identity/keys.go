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
	KeysEvery    = 10 * time.Second
	fetchingKeys = "fetching the identity provider's keys"
	// maxKeys bounds a key set's size.
	maxKeys = 1 << 20
)

// keyFetcher fetches the provider's keys no more often than KeysEvery; in between the last outcome, good or bad,
// stands. What is no key set is an error, so that whoever asks can tell it from a bad token.
type keyFetcher struct {
	next http.RoundTripper
	now  func() time.Time

	mu   sync.Mutex
	when time.Time
	body []byte
	err  error
}

// RoundTrip holds the lock while it fetches: whoever comes meanwhile wants the same. Requests for other addresses than
// one must not be made through it.
func (f *keyFetcher) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); f.when.IsZero() || now.Sub(f.when) >= KeysEvery {
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

func (f *keyFetcher) fetch(r *http.Request) ([]byte, error) {
	resp, err := f.next.RoundTrip(r)
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
type Keys struct{ remote oidc.KeySet }

// NewKeys returns the keys at the address; they are fetched when they are needed.
func NewKeys(ctx context.Context, address string, now func() time.Time) *Keys {
	fetcher := &keyFetcher{next: http.DefaultTransport, now: now}
	client := &http.Client{Transport: fetcher, Timeout: Timeout}
	return &Keys{remote: oidc.NewRemoteKeySet(oidc.ClientContext(ctx, client), address)}
}

// VerifySignature implements oidc.KeySet.
func (k *Keys) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.remote.VerifySignature(ctx, jwt)
	var fetching *url.Error // what http.Client makes of any error of its transport
	if errors.As(err, &fetching) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		if o, ok := ctx.Value(outageKey).(*outage); ok {
			o.err = err
		}
	}
	return payload, err
}

type contextKey int

const outageKey contextKey = iota

// outage is why the keys could not be fetched, nil if they were.
type outage struct{ err error }

func withOutage(ctx context.Context) (context.Context, *outage) {
	o := &outage{}
	return context.WithValue(ctx, outageKey, o), o
}

// FetchKeys returns the key set at the address, as JSON.
func FetchKeys(r *http.Request) ([]byte, error) {
	return (&keyFetcher{next: http.DefaultTransport}).fetch(r)
}
