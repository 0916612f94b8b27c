package pages

import (
	"context"
	"net/http"
	"strconv"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// catalog shows what the team can request.
func (p *Pages) catalog(w http.ResponseWriter, r *http.Request) error {
	id, err := page.Caller(r)
	if err != nil {
		return err
	}
	s := p.SpaceOf(r)
	p.Ahead(r.Context(), id, rights.ToEach("create", s.Kinds, s.Namespace)...)
	frame, err := p.Frame(r, id, s, "Catalog")
	if err != nil {
		return err
	}
	frame.Section = views.Catalog
	view, err := p.catalogOf(r.Context(), id, s, frame)
	if err != nil {
		return err
	}
	return p.Show(w, r, http.StatusOK, views.CatalogPage(view))
}

// catalogLive streams the same tiles: the remaining quotas change.
func (p *Pages) catalogLive(w http.ResponseWriter, r *http.Request) error {
	id, err := page.Caller(r)
	if err != nil {
		return err
	}
	s := p.SpaceOf(r)
	changed := p.Follow(r.Context(), func(c feed.Change) bool {
		return c.Kind == feed.Quotas && c.Namespace == s.Namespace
	})
	return p.Live(w, r, id, page.Live{
		Changed: page.Again(r.Context(), changed),
		Allowed: func(ctx context.Context) error { return p.mayRequest(ctx, id, s) },
		Render: func(ctx context.Context) ([]sse.Part, error) {
			view, err := p.catalogOf(ctx, id, s, views.Frame{Team: s.Team})
			if err != nil {
				return nil, err
			}
			tiles := make([]page.Part, 0, len(view.Tiles))
			for _, t := range view.Tiles {
				tiles = append(tiles, page.Replace(t.ID, views.TilePart(t)))
			}
			return page.Parts(ctx, tiles...)
		},
	})
}

// mayRequest returns nil if the caller can create or list any kind of the space; others get no catalog.
func (p *Pages) mayRequest(ctx context.Context, id auth.Identity, s page.Space) error {
	for _, k := range s.Kinds {
		if ok, err := p.Cluster.Rights.Can(ctx, id, "create", k, s.Namespace); ok || err != nil {
			return err
		}
	}
	return p.mayList(ctx, id, s)
}

// catalogOf returns the catalog of a team; that of all teams is empty.
func (p *Pages) catalogOf(ctx context.Context, id auth.Identity, s page.Space, frame views.Frame) (
	views.CatalogView, error,
) {
	view := views.CatalogView{Frame: frame}
	if err := p.mayRequest(ctx, id, s); err != nil {
		return view, err
	}
	var quotas []teams.Quota
	if s.Namespace != "" {
		var err error
		// they are optional here
		if quotas, err = p.Cluster.Teams.Quotas(ctx, id, s.Namespace); err != nil && !page.Unseen(err) {
			return view, err
		}
	}
	for _, k := range s.Kinds {
		if k.Hidden {
			continue
		}
		may, err := p.Cluster.Rights.Can(ctx, id, "create", k, s.Namespace)
		if err != nil {
			return view, err
		}
		tile := views.Tile{
			ID: "tile-" + k.Plural, Title: k.Title, Icon: k.Icon, Help: page.What(k.Name, k.Help),
			Kind: k.Name, Add: !k.Namespaced, Typical: typical(p.Cluster.Objects.TimesToReady(k)),
		}
		if k.Controller != nil {
			tile.Keeper = k.Controller.Name
		}
		room := roomFor(k, quotas)
		tile.Left = room.words
		switch {
		case !may:
			tile.Reason = page.ViewOnly(s)
		case room.full:
			tile.Reason = "The team has as many as its quota allows. Delete one that is not needed, or ask a " +
				"platform admin for more."
		default:
			tile.Href = views.RequestPath(s.Team.ID, k.Plural)
		}
		view.Tiles = append(view.Tiles, tile)
	}
	return view, nil
}

// typical returns how long a kind usually takes to become ready, "" with too few measurements.
func typical(t overview.Times) string {
	if !t.Known() {
		return ""
	}
	return views.Duration(t.P50)
}

// room is what a team's quotas leave for a kind.
type room struct {
	words string // "3 of 10 left"; "" without a quota, or without the right to see it
	full  bool
}

// roomFor returns the room of the quota that leaves the least.
func roomFor(k catalog.Kind, quotas []teams.Quota) room {
	var out room
	least := int64(-1)
	for _, q := range quotas {
		if q.Of != page.CountQuota(k.Plural) || !q.Known {
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
