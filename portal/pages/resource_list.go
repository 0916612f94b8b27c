package pages

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// resources shows the list of a team's resources.
func (p *Pages) resources(w http.ResponseWriter, r *http.Request) error {
	id, err := page.Caller(r)
	if err != nil {
		return err
	}
	s := p.SpaceOf(r)
	p.Ahead(r.Context(), id, slices.Concat(rights.ToEach("list", s.Listed, s.Namespace),
		rights.ToEach("create", s.Kinds, s.Namespace))...)
	frame, err := p.Frame(r, id, s, "Resources")
	if err != nil {
		return err
	}
	frame.Section = views.Resources
	list, err := p.list(r.Context(), id, s, frame, queryOf(r.URL.Query()))
	if err != nil {
		return err
	}
	if !s.Everywhere() && list.ViewOnly == "" {
		offered, err := p.catalogOf(r.Context(), id, s, frame)
		if err != nil {
			return err
		}
		list.Offered = offered.Tiles
	}
	if r.Header.Get("HX-Request") == "true" { // the URL of the filter form has empty fields
		w.Header().Set("HX-Replace-Url", views.TeamPath(s.Team.ID)+list.Query.Encode())
	}
	return p.Show(w, r, http.StatusOK, views.ResourcesPage(list))
}

// list reads every kind that the caller can list; a caller who can list none gets a *ForbiddenError.
func (p *Pages) list(ctx context.Context, id auth.Identity, s page.Space, frame views.Frame, q views.Query) (
	views.List, error,
) {
	list := views.List{Frame: frame, Query: q, Everywhere: s.Everywhere()}
	all, err := p.addKinds(ctx, id, s, &list)
	if err != nil {
		return views.List{}, err
	}
	if s.Everywhere() {
		err = p.addTeamsOf(ctx, id, &list)
	} else {
		list.ViewOnly, err = p.cannotRequest(ctx, id, s)
	}
	if err != nil {
		return views.List{}, err
	}
	now := p.Now()
	for _, l := range arrange(&list, all, viewer{id.Username, now}) {
		r := page.ResourceOf(s, *l.Kind, l.Object, now)
		if l.Took >= 0 {
			r.Took = views.Duration(l.Took)
		}
		list.Rows = append(list.Rows, r)
	}
	return list, nil
}

// addKinds adds the kinds that the caller can list, and those that the caller cannot, and reads their rows.
func (p *Pages) addKinds(ctx context.Context, id auth.Identity, s page.Space, list *views.List) (
	[]listing.Item, error,
) {
	found, err := listing.Read(ctx, p.Cluster, id, s.Listed, s.Namespace)
	if err != nil {
		return nil, err
	}
	for _, k := range s.Listed {
		_, hidden := found.Forbidden.ByPlural(k.Plural)
		if !hidden || list.Query.Kind == k.Plural {
			list.Kinds = append(list.Kinds, views.Choice{Value: k.Plural, Label: k.Title})
		}
	}
	list.Hidden = page.HiddenKinds(page.OfKind(found.Forbidden, list.Query.Kind))
	return found.Items, nil
}

// addTeamsOf adds the teams to the list of all teams, and for which of them it is incomplete.
func (p *Pages) addTeamsOf(ctx context.Context, id auth.Identity, list *views.List) error {
	names, err := p.Cluster.Rights.Namespaces(ctx, id)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return page.ErrNoTeam
	}
	for _, n := range names {
		list.Teams = append(list.Teams, views.Choice{Value: n, Label: n})
	}
	if team := list.Query.Team; team != "" {
		list.Barred = !slices.Contains(names, team)
		names = []string{team}
	}
	if list.Barred {
		return nil
	}
	unlisted, err := p.Cluster.Rights.Unlisted(ctx, id, names)
	for team, kinds := range unlisted {
		unlisted[team] = page.OfKind(kinds, list.Query.Kind)
	}
	list.Hidden = page.HiddenOf(unlisted)
	return err
}

// resourcesLive streams the same list.
func (p *Pages) resourcesLive(w http.ResponseWriter, r *http.Request) error {
	id, err := page.Caller(r)
	if err != nil {
		return err
	}
	s, q := p.SpaceOf(r), queryOf(r.URL.Query())
	frame := views.Frame{Team: s.Team}
	known := map[string]bool{}
	for _, k := range s.Listed {
		known[k.Plural] = true
	}
	changed := p.Follow(r.Context(), func(c feed.Change) bool {
		return !c.Events && !c.Pods && known[c.Kind] && (s.Everywhere() || c.Namespace == s.Namespace)
	})
	if q.Phase == views.StuckStatus { // deletions become stuck over time
		changed = page.Again(r.Context(), changed)
	}
	return p.Live(w, r, id, page.Live{
		Changed: changed,
		Allowed: func(ctx context.Context) error { return p.mayList(ctx, id, s) },
		Render: func(ctx context.Context) ([]sse.Part, error) {
			list, err := p.list(ctx, id, s, frame, q)
			if err != nil {
				return nil, err
			}
			return listParts(ctx, list)
		},
	})
}

// mayList returns nil if the caller can list any kind of the space.
func (p *Pages) mayList(ctx context.Context, id auth.Identity, s page.Space) error {
	if s.Everywhere() {
		names, err := p.Cluster.Rights.Namespaces(ctx, id)
		if err == nil && len(names) == 0 {
			err = page.ErrNoTeam
		}
		return err
	}
	for _, k := range s.Listed {
		if ok, err := p.Cluster.Rights.Can(ctx, id, "list", k, s.Namespace); ok || err != nil {
			return err
		}
	}
	return page.MayNotList(s)
}

// listParts returns the counts and the table; while the order stays the same, only the rows.
func listParts(ctx context.Context, list views.List) ([]sse.Part, error) {
	out, err := page.Parts(ctx, page.Replace("counts", views.CountsPart(list)),
		page.Replace("list", views.ListPart(list)))
	if err != nil {
		return nil, err
	}
	rows := make([]page.Part, 0, len(list.Rows))
	shape := []string{
		strings.Join(list.Hidden, ","), strconv.Itoa(list.Total), strconv.Itoa(list.Matches),
		strconv.Itoa(list.Query.Batch),
	}
	for _, r := range list.Rows {
		rows, shape = append(rows, page.Replace(r.ID, views.RowPart(r, list))), append(shape, r.ID)
	}
	table := &out[len(out)-1]
	table.Shape = strings.Join(shape, " ")
	table.Rows, err = page.Parts(ctx, rows...)
	return out, err
}

// cannotRequest returns why the caller can request nothing in the space; "" for those who can.
func (p *Pages) cannotRequest(ctx context.Context, id auth.Identity, s page.Space) (string, error) {
	for _, k := range s.Kinds {
		if may, err := p.Cluster.Rights.Can(ctx, id, "create", k, s.Namespace); may || err != nil {
			return "", err
		}
	}
	return page.ViewOnly(s), nil
}
