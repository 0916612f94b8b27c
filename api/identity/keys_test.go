package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// signed returns a token of a new key, and the key as it is published.
func signed(t *testing.T, id string) (token, published string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key := jose.JSONWebKey{Key: private, KeyID: id}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	object, err := signer.Sign([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if token, err = object.CompactSerialize(); err != nil {
		t.Fatal(err)
	}
	public, err := json.Marshal(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return token, string(public)
}

// TestKeysOfUnknownKindsAreIgnored: a provider publishes keys for other purposes beside those of its tokens.
func TestKeysOfUnknownKindsAreIgnored(t *testing.T) {
	token, key := signed(t, "1")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"keys": [{"kty": "AKP", "kid": "0"}, {"kty": "OKP", "crv": "Ed448", "x": "AA"}, 7, ` +
			`{"kty": "oct", "k": "c2VjcmV0", "kid": "1"}, ` + key + `]}`))
	}))
	t.Cleanup(srv.Close)
	if _, err := NewKeys(srv.URL, time.Now).VerifySignature(t.Context(), token); err != nil {
		t.Error(err)
	}
}

// TestASetWithoutKeysReplacesNone: it is a failure of the provider, and tokens of known keys stay good.
func TestASetWithoutKeysReplacesNone(t *testing.T) {
	token, key := signed(t, "1")
	other, _ := signed(t, "2")
	for _, empty := range []string{`{}`, `{"keys": null}`, `{"keys": []}`, `{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}`} {
		answers := make(chan string, 2)
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(<-answers))
		}))
		t.Cleanup(srv.Close)
		keys := NewKeysFrom(KeySource{Address: srv.URL, Transport: http.DefaultTransport}, time.Now)
		answers <- `{"keys": [` + key + `]}`
		if _, err := keys.VerifySignature(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		answers <- empty
		if _, err := keys.VerifySignature(t.Context(), other); err == nil || errors.Is(err, errNoKeyFits) {
			t.Errorf("%s: another token is refused for %v", empty, err)
		}
		close(answers)
		if _, err := keys.VerifySignature(t.Context(), token); err != nil {
			t.Errorf("after %s: %v", empty, err)
		}
	}
}

// TestWhoLeavesDoesNotEndAFetch that others wait for.
func TestWhoLeavesDoesNotEndAFetch(t *testing.T) {
	token, key := signed(t, "1")
	var fetches atomic.Int32
	asked, answer := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetches.Add(1)
		close(asked)
		<-answer
		_, _ = w.Write([]byte(`{"keys": [` + key + `]}`))
	}))
	t.Cleanup(srv.Close)
	keys := NewKeys(srv.URL, time.Now)
	leaving, leave := context.WithCancel(t.Context())
	left, stayed := make(chan error, 1), make(chan error, 1)
	verify := func(ctx context.Context, end chan<- error) {
		_, err := keys.VerifySignature(ctx, token)
		end <- err
	}
	go verify(leaving, left)
	<-asked
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	go verify(t.Context(), stayed)
	close(answer)
	if err := <-stayed; err != nil || fetches.Load() != 1 {
		t.Errorf("who stayed: %v, after %d fetches", err, fetches.Load())
	}
}
