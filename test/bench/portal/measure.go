package portal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/portico-platform/portico/test/campaign"
)

// measure runs all measurements and fills the table.
func (w *world) measure(ctx context.Context, profiles string, t *campaign.Results) error {
	full := w.portal.Usage()
	t.Figure("start until ready", fmt.Sprintf("%.3g s", w.filled.Seconds()),
		fmt.Sprintf("%.0f MB resident at most by then", full.Peak))
	who, err := w.signInAll(ctx)
	if err != nil {
		return err
	}
	if err := w.weigh(ctx, who, t); err != nil {
		return err
	}
	if err := w.live(ctx, who, profiles, t); err != nil {
		return err
	}
	for i, p := range w.pages() {
		n, err := w.profiledFlood(ctx, p, who, profiles, i)
		if err != nil {
			return err
		}
		t.Figure(p.name+": views a second and core", fmt.Sprintf("%.0f", n),
			"of the portal's CPU time, four people at a time, without streams")
	}
	t.Goal("peak resident memory", w.portal.Usage().Peak, 300, " MB", "of the portal, after all of this")
	return nil
}

// live measures page views while streams are open and objects change.
func (w *world) live(ctx context.Context, who people, profiles string, t *campaign.Results) error {
	streaming, hangUp := context.WithCancel(ctx)
	defer hangUp()
	seen := newWatching()
	began := time.Now()
	if err := w.streams(streaming, who, seen); err != nil {
		return err
	}
	t.Figure("streams opened", fmt.Sprint(seen.open.Load()), fmt.Sprintf("in %.1f s", time.Since(began).Seconds()))
	before, err := w.count(ctx)
	if err != nil {
		return err
	}
	lasting, cancel := context.WithTimeout(ctx, w.size.look)
	defer cancel()
	var writes int
	var shown *views
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() (err error) { writes, err = w.write(lasting, seen); return err })
	g.Go(func() (err error) { shown, err = w.browse(lasting, who); return err })
	if profiles != "" {
		g.Go(func() error { return w.profile(inner, profiles) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	after, err := w.count(ctx)
	if err != nil {
		return err
	}
	if err := campaign.Pause(ctx, 2*time.Second); err != nil { // the last writes are still on their way
		return err
	}
	w.tell(t, before, after, shown, writes, seen)
	return nil
}

func (w *world) tell(t *campaign.Results, before, after counts, shown *views, writes int, seen *watching) {
	budgets := []time.Duration{100 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond}
	for i, p := range w.pages() {
		t.Times(p.name+", whole", shown.whole[p.name], budgets[i], "while everything else goes on")
		t.Times(p.name+", first byte", shown.first[p.name], 0, "")
	}
	t.Goal("views that were refused", float64(shown.refused), 0, "", shown.why)
	overtaken, lost := seen.unseen()
	t.Times("change to browser", seen.took, time.Second,
		fmt.Sprintf("from sending the write; %d writes, %d of them overtaken by the next to the same object", writes,
			overtaken))
	t.Goal("writes that no page showed, nor a later one to the same object", float64(lost), 0, "", "")
	t.Figure("streams that ended by themselves", fmt.Sprint(seen.ends.Load()),
		fmt.Sprintf("of %d; %.0f kB a second to all", seen.open.Load(),
			float64(seen.bytes.Load())/1000/w.size.look.Seconds()))
	per := func(n float64) float64 { return n / float64(shown.n) }
	t.Goal("LISTs to the API server a page view", per(after.lists-before.lists), 0, "",
		fmt.Sprintf("%d views, streams open", shown.n))
	t.Figure("access reviews a page view", fmt.Sprintf("%.1f", per(after.reviews-before.reviews)),
		"those of the streams included")
	t.Figure("portal's CPU under this load",
		fmt.Sprintf("%.2f cores", (after.usage.Busy-before.usage.Busy).Seconds()/w.size.look.Seconds()),
		"the API server, etcd and the benchmark share the machine")
}

// counts are counters that only increase.
type counts struct {
	lists, reviews float64
	usage          campaign.Usage
}

// alsoRead are the resources that the portal reads in addition to Portico's own.
var alsoRead = []string{
	"clusterrolebindings", "configmaps", "events", "namespaces", "pods", "resourcequotas",
	"rolebindings", "secrets",
}

// count reads from the API server's metrics the portal's LISTs and access reviews.
func (w *world) count(ctx context.Context) (counts, error) {
	all, err := w.APIServer(ctx)
	if err != nil {
		return counts{}, err
	}
	const requests = "apiserver_request_total"
	return counts{
		usage: w.portal.Usage(),
		lists: all.Sum(requests, func(l map[string]string) bool {
			return l["verb"] == "LIST" && (l["group"] == "portico.dev" || slices.Contains(alsoRead, l["resource"]))
		}),
		reviews: all.Sum(requests, func(l map[string]string) bool {
			return l["verb"] == "POST" && l["resource"] == "subjectaccessreviews"
		}),
	}, nil
}

var assets = regexp.MustCompile(`(?:href|src)="(/assets/[^"]+\.(?:css|js))"`)

// weigh reports the size of the first page with its assets, as loaded by a browser without a cache.
func (w *world) weigh(ctx context.Context, who people, t *campaign.Results) error {
	size := func(path, encoding string) (int, campaign.Answer, error) {
		a, err := w.get(ctx, path, who.teams[0], encoding)
		return len(a.Body), a, err
	}
	plain, page, err := size("/teams/"+team(0), "identity")
	if err != nil {
		return err
	}
	packed, _, err := size("/teams/"+team(0), "gzip")
	if err != nil {
		return err
	}
	names, sum, sumPacked := map[string]bool{}, 0, 0
	for _, m := range assets.FindAllSubmatch(page.Body, -1) {
		if name := string(m[1]); !names[name] {
			names[name] = true
			n, _, errPlain := size(name, "identity")
			z, _, errPacked := size(name, "gzip")
			if err := errors.Join(errPlain, errPacked); err != nil {
				return err
			}
			sum, sumPacked = sum+n, sumPacked+z
		}
	}
	kB := func(n int) float64 { return float64(n) / 1000 }
	t.Figure("list, HTML alone", fmt.Sprintf("%.3g kB", kB(packed)),
		fmt.Sprintf("%.3g kB before compression", kB(plain)))
	t.Goal("JS and CSS, gzip", kB(sumPacked), 40, " kB",
		fmt.Sprintf("%d files, %.3g kB before compression", len(names), kB(sum)))
	t.Goal("first page, with all that it loads", kB(packed+sumPacked), 100, " kB", "")
	return nil
}

// profile writes a CPU profile taken during the load, and then a heap profile.
func (w *world) profile(ctx context.Context, folder string) error {
	seconds := int(w.size.look.Seconds()) / 2
	if err := w.writeProfile(ctx, "profile", fmt.Sprintf("?seconds=%d", seconds),
		filepath.Join(folder, "portal-cpu.pprof")); err != nil {
		return err
	}
	return w.writeProfile(ctx, "heap", "", filepath.Join(folder, "portal-heap.pprof"))
}

// profiledFlood floods the portal; if folder is set, it also writes a CPU profile of the flood there.
func (w *world) profiledFlood(ctx context.Context, p page, who people, folder string, number int) (
	perCore float64, err error,
) {
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() (err error) { perCore, err = w.flood(inner, p, who); return err })
	if folder != "" {
		g.Go(func() error {
			path := filepath.Join(folder, fmt.Sprintf("portal-cpu-page-%d.pprof", number+1))
			return w.writeProfile(inner, "profile", fmt.Sprintf("?seconds=%d", int(w.size.flood.Seconds())), path)
		})
	}
	err = g.Wait()
	return perCore, err
}

// writeProfile writes one of the portal's profiles to a file.
func (w *world) writeProfile(ctx context.Context, name, query, path string) error {
	at := w.portal.Metrics + "/debug/pprof/" + name + query
	got, err := campaign.Send(ctx, http.DefaultClient, http.MethodGet, at, nil, nil)
	if err != nil || got.Status != http.StatusOK {
		return fmt.Errorf("profile %s: status %d: %w", name, got.Status, err)
	}
	return os.WriteFile(path, got.Body, 0o600)
}
