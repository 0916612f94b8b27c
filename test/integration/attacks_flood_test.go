//go:build integration

package integration

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/portal/sse"
)

// TestSlowClientsAreCutOff checks that clients that send a header or a body byte by byte, or nothing, are
// disconnected, and that others are served in the meantime.
func TestSlowClientsAreCutOff(t *testing.T) {
	// The clock for deadlines is late, so that those of bodies come in seconds; headers use the server's own.
	g := &target{replica: startPortalOf(t, oidctest.New(t).URL, sessionKeys(t), func(p *portal.Parts) {
		p.Clock = lateClock(25 * time.Second)
	}), t: t}
	host := strings.TrimPrefix(g.url, "http://")
	ways := map[string]string{
		"nothing":       "",
		"half a line":   "GET /heal",
		"half a header": "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nX-",
		"a body of a length": "POST /auth/backchannel-logout HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: " +
			formType + "\r\nContent-Length: 100000\r\n\r\nlogout_token=",
		"a body of chunks": "POST /auth/backchannel-logout HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: " +
			formType + "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nlogou",
		"a body nobody asked": "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 100000\r\n\r\nx",
		"a body for the API": "POST /api/v1/namespaces/payments/s3buckets HTTP/1.1\r\nHost: " + host +
			"\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
		"a body to be expected": "POST /auth/backchannel-logout HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: " +
			formType + "\r\nExpect: 100-continue\r\nContent-Length: 100000\r\n\r\n",
	}
	const each = 25
	var all sync.WaitGroup
	var open atomic.Int64
	for name, text := range ways {
		for range each {
			open.Add(1)
			all.Go(func() {
				defer open.Add(-1)
				if err := trickle(t.Context(), host, text); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	served, client := 0, plainly()
	for open.Load() > 0 {
		resp, err := client.Get(g.url + "/healthz")
		if err != nil {
			t.Fatalf("others are not served: %v", err)
		}
		_ = resp.Body.Close()
		served++
		time.Sleep(20 * time.Millisecond)
	}
	all.Wait()
	t.Logf("%d bad inputs; others were served %d times meanwhile", len(ways)*each, served)
}

// lateClock runs at the right speed, but late. It implements clock.PassiveClock.
type lateClock time.Duration

// Now returns the time of the clock.
func (c lateClock) Now() time.Time { return time.Now().Add(-time.Duration(c)) }

// Since returns the time since then.
func (c lateClock) Since(then time.Time) time.Duration { return c.Now().Sub(then) }

// trickle sends text, then a byte now and then, until it is disconnected.
func trickle(ctx context.Context, host, text string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, text); err != nil {
		return err
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_, _ = io.Copy(io.Discard, conn)
	}()
	for began := time.Now(); time.Since(began) < patience; {
		select {
		case <-closed:
			return nil
		case <-time.After(500 * time.Millisecond):
			if _, err := io.WriteString(conn, "x"); err != nil {
				return nil
			}
		}
	}
	return fmt.Errorf("still connected after %s", patience)
}

// TestAFloodOfStreamsIsOneUsersOwn checks that a user who opens a thousand streams gets the maximum for one user, and
// does not affect another user.
func TestAFloodOfStreamsIsOneUsersOwn(t *testing.T) {
	g := newTarget(t)
	const flood = 1000
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	kept := secrets.Transport(transport)
	ctx, cancel := context.WithCancel(t.Context())
	var open, refused, other atomic.Int64
	var all sync.WaitGroup
	stream := func(path, session, token string, opened func(status int)) {
		defer all.Done()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.url+path, http.NoBody)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Accept", "text/event-stream")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		req.AddCookie(&http.Cookie{Name: "__Host-portico", Value: session})
		resp, err := kept.RoundTrip(req)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		opened(resp.StatusCode)
		if resp.StatusCode == http.StatusOK {
			<-ctx.Done()
		}
		_ = resp.Body.Close()
	}
	count := func(status int) {
		switch status {
		case http.StatusOK:
			open.Add(1)
		case http.StatusTooManyRequests:
			refused.Add(1)
		default:
			other.Store(int64(status))
		}
	}
	token := g.issuer.Token(g.claims)
	for i := range flood {
		all.Add(1)
		if i%2 == 0 {
			go stream("/teams/payments/live", g.session["__Host-portico"], "", count)
		} else {
			go stream("/api/v1/namespaces/payments/s3buckets?watch=true", "", token, count)
		}
	}
	await(t, "every stream to be answered", func() (bool, string) {
		return open.Load()+refused.Load() == flood,
			fmt.Sprintf("%d open, %d refused, another %d", open.Load(), refused.Load(), other.Load())
	})
	if most := int64(2 * sse.MaxStreams); open.Load() > most { // for pages and for the REST API
		t.Errorf("%d streams are open, want %d at most", open.Load(), most)
	}
	claims := oidctest.Claims{"sub": "viewer", "preferred_username": "viewer", "groups": []string{"viewers"}}
	in := g.signIn(t, g.issuer, claims).want(t, http.StatusSeeOther).session()
	others := make(chan int, 1)
	all.Add(1)
	go stream("/teams/payments/live", in, "", func(status int) { others <- status })
	if status := <-others; status != http.StatusOK {
		t.Errorf("another user's stream is answered %d", status)
	}
	g.visit(t, "GET", "/teams/payments", map[string]string{"__Host-portico": in}).want(t, http.StatusOK)
	cancel()
	all.Wait()
	t.Logf("%d bad inputs: %d open, %d refused", flood, open.Load(), refused.Load())
}
