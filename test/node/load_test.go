//go:build node && linux

package node_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"
)

// trust returns a configuration that trusts the stack's authority alone.
func trust(t *testing.T) *tls.Config {
	t.Helper()
	authority, err := os.ReadFile(world.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// trusting returns a client with a new connection for each request.
func trusting(t *testing.T) *http.Client {
	t.Helper()
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: trust(t),
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	}}
}

// load sends requests until it is stopped, and counts those without an answer 200.
type load struct {
	client  *http.Client
	request func(context.Context) (*http.Request, error)
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu         sync.Mutex
	sent, lost int
	first      string         // the first that was lost
	answers    map[string]int // by body, if short
}

// users is how many send requests, one after the other, each on a connection of its own.
const users = 4

func startLoad(ctx context.Context, client *http.Client, url, token string) *load {
	ctx, stop := context.WithCancel(ctx)
	l := &load{
		client:  client,
		stop:    stop,
		answers: map[string]int{},
		request: func(ctx context.Context) (*http.Request, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
			if err == nil && token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			return r, err
		},
	}
	for range users {
		l.done.Go(func() {
			for ctx.Err() == nil {
				l.one(ctx)
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	return l
}

func (l *load) one(ctx context.Context) {
	r, err := l.request(context.WithoutCancel(ctx)) // the last ones get their answers
	if err != nil {
		panic(err)
	}
	began := time.Now()
	said, err := l.answer(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent++
	if len(said) < 40 {
		l.answers[said]++
	}
	if err != nil {
		l.lost++
		if l.first == "" {
			l.first = fmt.Sprintf("%v after %s", err, time.Since(began).Round(time.Millisecond))
		}
	}
}

func (l *load) answer(r *http.Request) (string, error) {
	resp, err := l.client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", resp.Status, body)
	}
	return string(body), err
}

// end stops the load, and fails the test if anything was lost.
func (l *load) end(t *testing.T, what string) {
	t.Helper()
	l.stop()
	l.done.Wait()
	_, _ = fmt.Fprintf(os.Stderr, "  %s: %d requests, %d lost\n", what, l.sent, l.lost)
	if l.lost > 0 {
		t.Errorf("%s: %d of %d requests were lost; the first: %s", what, l.lost, l.sent, l.first)
	}
	if l.sent < 50 {
		t.Errorf("%s: only %d requests were sent", what, l.sent)
	}
}
