package restart

import (
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
	"github.com/portico-platform/portico/test/campaign"
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
			http: campaign.Browser(&http.Transport{}), token: w.TokenOf(fmt.Sprintf("user-%d", i), team),
		}
		// The two requests can reach different replicas.
		var err error
		if u.session, err = w.SignIn(ctx, u.http, w.proxy.url(), u.name, team); err != nil {
			return nil, err
		}
		l.users = append(l.users, u)
	}
	return l, nil
}

// send sends one request to a portal.
func (u *user) send(ctx context.Context, method, path string, header http.Header, body io.Reader) (
	campaign.Answer, error,
) {
	return campaign.Send(ctx, u.http, method, u.load.world.proxy.url()+path, header, body)
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
	for n := 0; campaign.Pause(working, 300*time.Millisecond+rand.N(700*time.Millisecond)) == nil; n++ {
		name := fmt.Sprintf("%s-%d", u.name, n)
		switch rand.N(6) {
		case 0:
			form := url.Values{"do": {"create"}, "metadata.name": {name}, "spec.providerRef.name": {stack.Provider}}
			header := http.Header{
				"Content-Type": {"application/x-www-form-urlencoded"},
				"Origin":       {u.load.world.proxy.url()},
				"Cookie":       {u.session},
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
			got, err := u.send(ctx, http.MethodGet, path, http.Header{"Cookie": {u.session}}, nil)
			u.load.note("page", "", http.StatusOK, got, err)
		}
	}
}

// note records the result of a request; name is the object that the request creates, if any.
func (l *load) note(what, name string, want int, got campaign.Answer, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent[what]++
	switch {
	case err != nil:
		l.lost = append(l.lost, fmt.Sprintf("%s: %v", what, err))
	case got.Status != want:
		l.lost = append(l.lost, fmt.Sprintf("%s: answered with %d", what, got.Status))
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
			u.load.note("stream", "", 0, campaign.Answer{}, err)
		}
		_ = campaign.Pause(ctx, 500*time.Millisecond)
	}
}

// stream reads a page's stream until it ends. It calls opened once the first line has arrived.
func (u *user) stream(ctx context.Context, opened func()) error {
	lines, err := campaign.Follow(ctx, u.streams, u.load.world.proxy.url()+"/teams/"+team+"/live", u.session)
	if err != nil {
		return err
	}
	defer func() { _ = lines.Close() }()
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

// verdict adds the results to the table, and fails if anything was lost.
func (l *load) verdict(ctx context.Context, t *campaign.Results) error {
	made := &v1alpha1.S3BucketList{}
	if err := l.world.Kube.List(ctx, made, client.InNamespace(team)); err != nil {
		return err
	}
	there := map[string]bool{}
	for i := range made.Items {
		there[made.Items[i].Name] = true
	}
	gone := slices.DeleteFunc(slices.Clone(l.accepted), func(name string) bool { return there[name] })
	for _, what := range slices.Sorted(maps.Keys(l.sent)) {
		t.Figure("sent: "+what, fmt.Sprint(l.sent[what]), "")
	}
	t.Goal("lost", float64(len(l.lost)), 0, "", strings.Join(l.lost[:min(len(l.lost), 10)], "; "))
	t.Goal("accepted, and not in the cluster", float64(len(gone)), 0, "", fmt.Sprintf("of %d", len(l.accepted)))
	t.Figure("streams opened", fmt.Sprint(l.streams), fmt.Sprintf("%d of them again, after %.1f s at most", l.moved,
		l.longest.Seconds()))
	for _, r := range l.world.proxy.replicas {
		t.Figure("connections of "+r.url, fmt.Sprint(r.served.Load()), "")
	}
	if len(l.lost) > 0 || len(gone) > 0 || l.moved == 0 {
		return fmt.Errorf("%d requests were lost, %d accepted ones are not in the cluster, and %d streams moved",
			len(l.lost), len(gone), l.moved)
	}
	return nil
}
