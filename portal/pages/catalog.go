package pages

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/live"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// catalog shows what the team can request.
func (p *Pages) catalog(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	s := p.spaceOf(r)
	p.ahead(r.Context(), id, cluster.RightsTo("create", s.kinds, s.namespace)...)
	frame, err := p.frame(r, id, s, "Catalog")
	if err != nil {
		return err
	}
	frame.Section = views.Catalog
	view, err := p.catalogOf(r.Context(), id, s, frame)
	if err != nil {
		return err
	}
	return p.show(w, r, http.StatusOK, views.CatalogPage(view))
}

// catalogLive streams the same tiles: what is left of quotas changes.
func (p *Pages) catalogLive(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	s := p.spaceOf(r)
	changed := p.follow(r.Context(), func(c cluster.Change) bool { return c.Kind == cluster.Quotas && c.Namespace == s.namespace })
	return p.streams.Serve(w, r, id.Username, live.Source{
		Changed: again(r.Context(), changed), Alive: p.alive,
		Allowed: func(ctx context.Context) error { return p.mayRequest(ctx, id, s) },
		Render: func(ctx context.Context) ([]live.Part, error) {
			view, err := p.catalogOf(ctx, id, s, views.Frame{Team: s.team})
			if err != nil {
				return nil, err
			}
			tiles := make([]part, 0, len(view.Tiles))
			for _, t := range view.Tiles {
				tiles = append(tiles, part{t.ID, views.TilePart(t)})
			}
			return parts(ctx, tiles...)
		},
	})
}

// mayRequest is nil if the caller may create any kind of the space, or list any: to those a catalog says something.
func (p *Pages) mayRequest(ctx context.Context, id auth.Identity, s space) error {
	for _, k := range s.kinds {
		if ok, err := p.cluster.Can(ctx, id, "create", k, s.namespace); ok || err != nil {
			return err
		}
	}
	return p.mayList(ctx, id, s)
}

// catalogOf is what the catalog of a team says, or that of all teams, which is empty.
func (p *Pages) catalogOf(ctx context.Context, id auth.Identity, s space, frame views.Frame) (views.CatalogView, error) {
	view := views.CatalogView{Frame: frame}
	if err := p.mayRequest(ctx, id, s); err != nil {
		return view, err
	}
	var quotas []cluster.Quota
	if s.namespace != "" {
		var err error
		if quotas, err = p.cluster.Quotas(ctx, id, s.namespace); err != nil && !unseen(err) { // without the right, nothing is said of them
			return view, err
		}
	}
	for _, k := range s.kinds {
		may, err := p.cluster.Can(ctx, id, "create", k, s.namespace)
		if err != nil {
			return view, err
		}
		tile := views.Tile{ID: "tile-" + k.Plural, Title: k.Title, Icon: k.Icon, Help: what(k.Name, k.Help), Kind: k.Name, Typical: typical(p.cluster.TimesToReady(k))}
		room := roomFor(k, quotas)
		tile.Left = room.words
		switch {
		case !may:
			tile.Reason = viewOnly(s)
		case room.full:
			tile.Reason = "The team has as many as its quota allows. Delete one that is not needed, or ask your platform team for more."
		default:
			tile.Href = views.RequestPath(s.team.ID, k.Plural)
		}
		view.Tiles = append(view.Tiles, tile)
	}
	return view, nil
}

// typical is how long a kind usually takes, "" if too few were measured to know.
func typical(t overview.Times) string {
	if !t.Known() {
		return ""
	}
	return views.Duration(t.P50)
}

// room is what a team's quotas leave of a kind.
type room struct {
	words string // "3 of 10 left"; "" if nothing limits it, or the caller may not know
	full  bool
}

// roomFor goes by the quota that leaves the least.
func roomFor(k catalog.Kind, quotas []cluster.Quota) room {
	var out room
	least := int64(-1)
	for _, q := range quotas {
		if q.Of != countQuota(k.Plural) || !q.Known {
			continue
		}
		left := max(0, q.Hard.Value()-q.Used.Value())
		if least >= 0 && left >= least {
			continue
		}
		least = left
		out = room{words: strconv.FormatInt(left, 10) + " of " + q.Hard.String() + " left", full: left == 0}
	}
	return out
}

// what cuts "S3Bucket is" or "WebApp" from a kind's description: the tile has its name already.
func what(kind, help string) string {
	for _, lead := range []string{kind + " is ", kind + " are ", kind + " "} {
		if rest, ok := strings.CutPrefix(help, lead); ok && rest != "" {
			return prose.Sentence(rest)
		}
	}
	return prose.Sentence(cmp.Or(help, kind))
}
