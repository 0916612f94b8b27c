package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

// user is a user with a browser session and a REST API token.
type user struct {
	name, session, token string
	// Streams have their own client. Go's client may open a connection and then leave it idle because another one
	// became free; servers eventually close idle connections, and a write sent at that moment is lost. Browsers would
	// retry it.
	http, streams *http.Client
	load          *load
}

// load is the work of all users, with its results.
type load struct {
	world *world
	users []*user

	mu       sync.Mutex
	sent     map[string]int // requests, by purpose
	lost     []string
	accepted []string // names of the objects whose creation succeeded
	streams  int      // streams opened
	moved    int      // streams opened again after they had ended
	longest  time.Duration
}

// users signs users in.
func (w *world) users(ctx context.Context, n int) (*load, error) {
	l := &load{world: w, sent: map[string]int{}}
	for i := range n {
		u := &user{
			name: fmt.Sprintf("user-%d", i), load: l, streams: &http.Client{Transport: &http.Transport{}},
			http: &http.Client{
				Transport:     &http.Transport{},
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			},
		}
		claims := oidctest.Claims{
			"sub": u.name, "preferred_username": u.name, "groups": []string{team},
			"email": u.name + "@portico.test",
		}
		if err := u.signIn(ctx, claims); err != nil {
			return nil, err
		}
		claims["aud"] = stack.Audience
		u.token = w.issuer.Token(claims)
		l.users = append(l.users, u)
	}
	return l, nil
}

// signIn sends two requests, which can reach different replicas.
func (u *user) signIn(ctx context.Context, claims oidctest.Claims) error {
	begun, err := u.send(ctx, http.MethodGet, "/auth/login", nil, nil)
	if err != nil {
		return err
	}
	code, state := u.load.world.issuer.Code(begun.header.Get("Location"), claims)
	u.session = cookies(begun)
	back, err := u.send(ctx, http.MethodGet, "/auth/callback?"+url.Values{"code": {code}, "state": {state}}.Encode(),
		nil, nil)
	if err != nil {
		return err
	}
	if u.session = cookies(back); u.session == "" {
		return fmt.Errorf("signing in %s is answered with %d", u.name, back.status)
	}
	return nil
}

// answer is the response to a request, or zero if there was none.
type answer struct {
	status int
	header http.Header
}

func cookies(a answer) string {
	var all []string
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Value != "" {
			all = append(all, c.Name+"="+c.Value)
		}
	}
	return strings.Join(all, "; ")
}

// send sends one request and reads its response to the end. It does not retry writes.
func (u *user) send(ctx context.Context, method, path string, header http.Header, body io.Reader) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.load.world.proxy.url()+path, body)
	if err != nil {
		return answer{}, err
	}
	maps.Copy(req.Header, header)
	if req.Header.Get("Authorization") == "" {
		req.Header.Set("Cookie", u.session)
	}
	resp, err := u.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return answer{resp.StatusCode, resp.Header}, err
}

// start starts the work of all users. stop waits for the requests in flight.
func (l *load) start(ctx context.Context) (stop func()) {
	working, end := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, u := range l.users {
		all.Go(func() { u.work(ctx, working) })
		all.Go(func() { u.watch(working) })
	}
	return func() { end(); all.Wait() }
}

// work sends one request after the other until working ends. It does not cancel a request in flight.
func (u *user) work(ctx, working context.Context) {
	for n := 0; pause(working, 300*time.Millisecond+rand.N(700*time.Millisecond)); n++ {
		name := fmt.Sprintf("%s-%d", u.name, n)
		switch rand.N(6) {
		case 0:
			form := url.Values{"do": {"create"}, "metadata.name": {name}, "spec.providerRef.name": {stack.Provider}}
			header := http.Header{
				"Content-Type": {"application/x-www-form-urlencoded"},
				"Origin":       {u.load.world.proxy.url()},
			}
			got, err := u.send(ctx, http.MethodPost, "/teams/"+team+"/new/s3buckets", header,
				strings.NewReader(form.Encode()))
			u.load.note("form", name, http.StatusSeeOther, got, err)
		case 1:
			body := fmt.Sprintf(
				`{"apiVersion":"portico.dev/v1alpha1","kind":"S3Bucket","metadata":{"name":%q},"spec":{"providerRef":{"name":%q}}}`, name, stack.Provider)
			header := http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + u.token}}
			got, err := u.send(ctx, http.MethodPost, "/api/v1/namespaces/"+team+"/s3buckets", header,
				strings.NewReader(body))
			u.load.note("REST write", name, http.StatusCreated, got, err)
		default:
			path := []string{"/teams/" + team, "/teams/" + team + "/catalog", "/teams/" + team +
				"/new/s3buckets"}[rand.N(3)]
			got, err := u.send(ctx, http.MethodGet, path, nil, nil)
			u.load.note("page", "", http.StatusOK, got, err)
		}
	}
}

// note records the result of a request; name is the object that the request creates, if any.
func (l *load) note(what, name string, want int, got answer, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent[what]++
	switch {
	case err != nil:
		l.lost = append(l.lost, fmt.Sprintf("%s: %v", what, err))
	case got.status != want:
		l.lost = append(l.lost, fmt.Sprintf("%s: answered with %d", what, got.status))
	case name != "":
		l.accepted = append(l.accepted, name)
	}
}

// watch keeps a page's stream open as a browser does, and reconnects when the stream ends.
func (u *user) watch(ctx context.Context) {
	var ended time.Time
	for ctx.Err() == nil {
		err := u.stream(ctx, func() { u.load.opened(ended) })
		if ctx.Err() != nil {
			return
		}
		if ended = time.Now(); !errors.Is(err, io.EOF) {
			u.load.note("stream", "", 0, answer{}, err)
		}
		pause(ctx, 500*time.Millisecond)
	}
}

// stream reads a page's stream until it ends. It calls opened once the first line has arrived.
func (u *user) stream(ctx context.Context, opened func()) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.load.world.proxy.url()+"/teams/"+team+
		"/live", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Cookie", u.session)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := u.streams.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("answered with %d", resp.StatusCode)
	}
	lines := bufio.NewReader(resp.Body)
	if _, err = lines.ReadString('\n'); err != nil {
		return err
	}
	for opened(); err == nil; {
		_, err = lines.ReadString('\n')
	}
	return err
}

// opened counts an opened stream, and records the longest time for which a page had none.
func (l *load) opened(ended time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams++
	if !ended.IsZero() {
		l.moved++
		l.longest = max(l.longest, time.Since(ended))
	}
}

// verdict prints the results, and fails if anything was lost.
func (l *load) verdict(ctx context.Context, out io.Writer) error {
	made := &v1alpha1.S3BucketList{}
	if err := l.world.kube.List(ctx, made, client.InNamespace(team)); err != nil {
		return err
	}
	there := map[string]bool{}
	for i := range made.Items {
		there[made.Items[i].Name] = true
	}
	gone := slices.DeleteFunc(slices.Clone(l.accepted), func(name string) bool { return there[name] })
	for _, what := range slices.Sorted(maps.Keys(l.sent)) {
		_, _ = fmt.Fprintf(out, "  %-12s %5d\n", what, l.sent[what])
	}
	_, _ = fmt.Fprintf(out, "  lost         %5d   goal 0\n", len(l.lost))
	_, _ = fmt.Fprintf(out, "  accepted     %5d, of which the cluster lacks %d   goal 0\n", len(l.accepted), len(gone))
	_, _ = fmt.Fprintf(out, "  streams      %5d opened, %d of them again, after %.1f s at most\n", l.streams, l.moved,
		l.longest.Seconds())
	for _, r := range l.world.proxy.replicas {
		_, _ = fmt.Fprintf(out, "  %s served %d connections\n", r.address, r.served.Load())
	}
	for _, one := range l.lost[:min(len(l.lost), 10)] {
		_, _ = fmt.Fprintln(out, "  lost:", one)
	}
	if len(l.lost) > 0 || len(gone) > 0 || l.moved == 0 {
		return fmt.Errorf("%d requests were lost, %d accepted ones are not in the cluster, and %d streams moved",
			len(l.lost), len(gone), l.moved)
	}
	return nil
}
