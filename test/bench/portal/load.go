package portal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// page is a kind of page that users view.
type page struct {
	name string
	path func(r *rand.Rand) (path string, user int) // user -1 is an admin
}

// people holds the session cookies: one for each team, and those of admins.
type people struct {
	teams  []string // session cookies
	admins []string
}

func (p people) cookie(user int) string {
	if user < 0 {
		return p.admins[0]
	}
	return p.teams[user]
}

func (w *world) signInAll(ctx context.Context) (people, error) {
	var all people
	for n := range w.size.namespaces {
		cookie, err := w.SignIn(ctx, w.http, w.portal.URL, fmt.Sprintf("dev-%03d", n), team(n))
		if err != nil {
			return all, err
		}
		all.teams = append(all.teams, cookie)
	}
	for n := range max(1, w.size.admins) {
		cookie, err := w.SignIn(ctx, w.http, w.portal.URL, fmt.Sprintf("admin-%d", n), "platform-admins")
		if err != nil {
			return all, err
		}
		all.admins = append(all.admins, cookie)
	}
	return all, nil
}

// pages returns the kinds of pages that users view.
func (w *world) pages() []page {
	some := func(r *rand.Rand) int { return r.IntN(w.size.namespaces) }
	return []page{
		{"list of a team", func(r *rand.Rand) (string, int) {
			n := some(r)
			return "/teams/" + team(n), n
		}},
		{"detail", func(r *rand.Rand) (string, int) {
			n := some(r)
			return w.objects[n*w.size.objects+r.IntN(w.size.objects)].path(), n
		}},
		{"list of all teams, by an admin", func(*rand.Rand) (string, int) { return "/teams/-", -1 }},
	}
}

// streams opens all streams, a few at a time.
func (w *world) streams(ctx context.Context, who people, seen *watching) error {
	g := errgroup.Group{}
	g.SetLimit(creators)
	number := 0
	open := func(path, cookie string) {
		number++
		n := number
		g.Go(func() error { return seen.follow(ctx, w, n, path, cookie) })
	}
	for n := range w.size.namespaces {
		open("/teams/"+team(n)+"/live", who.teams[n])
		open("/teams/"+team(n)+"/live?sort=kind", who.teams[n])
	}
	for i := range w.size.details {
		n := i % w.size.namespaces
		open(w.objects[n*w.size.objects].path()+"/live", who.teams[n])
	}
	for i := range w.size.admins {
		open("/teams/-/live", who.admins[i])
	}
	return g.Wait()
}

// write changes objects at a steady rate until ctx ends, and returns the number of writes.
func (w *world) write(ctx context.Context, seen *watching) (int, error) {
	var some []object
	for _, o := range w.objects {
		if o.changing() {
			some = append(some, o)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	n := 0
	var mu sync.Mutex // writes may overlap
	draw := func() (object, string) {
		mu.Lock()
		defer mu.Unlock()
		o := some[r.IntN(len(some))]
		o.Object = o.DeepCopyObject().(client.Object)
		n++
		seen.wrote(token(n), o.path())
		return o, token(n)
	}
	err := paced(ctx, writesASecond, func(ctx context.Context) error {
		o, token := draw()
		return w.writeStatus(ctx, o, token)
	})
	return n, err
}

// paced calls f aSecond times a second until ctx ends, without waiting for earlier calls. It returns once all calls
// have returned.
func paced(ctx context.Context, aSecond int, f func(context.Context) error) error {
	tick := time.NewTicker(time.Second / time.Duration(aSecond))
	defer tick.Stop()
	g, inner := errgroup.WithContext(context.WithoutCancel(ctx))
	for {
		select {
		case <-ctx.Done():
			return g.Wait()
		case <-inner.Done():
			return g.Wait()
		case <-tick.C:
			g.Go(func() error { return f(inner) })
		}
	}
}

// views are the response times of page views, by the name of the page.
type views struct {
	mu    sync.Mutex
	first map[string][]time.Duration
	whole map[string][]time.Duration
	n     int
	// refused counts responses other than the page: the portal or the API server is overloaded.
	refused int
	why     string // of the last refusal
}

func newViews() *views {
	return &views{first: map[string][]time.Duration{}, whole: map[string][]time.Duration{}}
}

func (v *views) look(ctx context.Context, w *world, p page, who people, r *rand.Rand) error {
	v.mu.Lock()
	path, user := p.path(r)
	v.n++
	v.mu.Unlock()
	got, err := w.get(ctx, path, who.cookie(user), "gzip")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case err != nil:
		v.refused++
		v.why = path + " is not answered at all"
		return nil
	case got.Status != http.StatusOK:
		v.refused++
		v.why = fmt.Sprintf("%s is answered with %d", path, got.Status)
		return nil
	}
	v.first[p.name], v.whole[p.name] = append(v.first[p.name], got.First), append(v.whole[p.name], got.Whole)
	return nil
}

// browse views pages at a steady rate until ctx ends: half lists and half details, and every tenth as an admin.
func (w *world) browse(ctx context.Context, who people) (*views, error) {
	all, pages, r := newViews(), w.pages(), rand.New(rand.NewPCG(3, 4))
	n := 0
	err := paced(ctx, viewsASecond, func(ctx context.Context) error {
		all.mu.Lock()
		n++
		p := pages[n%2]
		if n%10 == 0 {
			p = pages[2]
		}
		all.mu.Unlock()
		return all.look(ctx, w, p, who, r)
	})
	return all, err
}

// flood views one kind of page as fast as possible, with four concurrent users. It returns the number of views for each
// second of the portal's CPU time.
func (w *world) flood(ctx context.Context, p page, who people) (perCore float64, err error) {
	all, before := newViews(), w.portal.Usage()
	over := time.Now().Add(w.size.flood)
	g, ctx := errgroup.WithContext(ctx)
	for range 4 {
		g.Go(func() error {
			r := rand.New(rand.NewPCG(5, 6))
			for time.Now().Before(over) {
				if err := all.look(ctx, w, p, who, r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	if all.refused > 0 {
		return 0, fmt.Errorf("%d of %d views of the %s were refused; the last: %s", all.refused, all.n, p.name, all.why)
	}
	busy := w.portal.Usage().Busy - before.Busy
	return float64(len(all.whole[p.name])) / max(busy.Seconds(), 0.01), nil
}
