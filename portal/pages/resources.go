package pages

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/live"
	"github.com/portico-platform/portico/web/views"
)

// resources is the list of a team's resources.
func (p *Pages) resources(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	s := p.spaceOf(r)
	p.ahead(r.Context(), id, cluster.RightsTo("list", s.listed, s.namespace)...)
	frame, err := p.frame(r, id, s, "Resources")
	if err != nil {
		return err
	}
	frame.Section = views.Resources
	list, err := p.list(r.Context(), id, s, frame, queryOf(r.URL.Query()))
	if err != nil {
		return err
	}
	if r.Header.Get("HX-Request") == "true" { // the filters' own address has empty fields in it
		w.Header().Set("HX-Replace-Url", views.TeamPath(s.team.ID)+list.Query.Encode())
	}
	return p.show(w, r, http.StatusOK, views.ResourcesPage(list))
}

// list reads every kind that the caller may list; it is refused if that is none.
func (p *Pages) list(ctx context.Context, id auth.Identity, s space, frame views.Frame, q views.Query) (views.List, error) {
	list := views.List{Frame: frame, Query: q, Everywhere: s.everywhere()}
	all, err := p.addKinds(ctx, id, s, &list)
	if err != nil {
		return views.List{}, err
	}
	if s.everywhere() {
		err = p.addTeamsOf(ctx, id, &list)
	} else {
		list.ViewOnly, err = p.cannotRequest(ctx, id, s)
	}
	if err != nil {
		return views.List{}, err
	}
	now := p.now()
	for _, l := range arrange(&list, all, viewing{id.Username, now}) {
		r := resourceOf(s, *l.Kind, l.Object, now)
		if l.Took >= 0 {
			r.Took = views.Duration(l.Took)
		}
		list.Rows = append(list.Rows, r)
	}
	return list, nil
}

// addKinds adds the kinds that the list has, and those that it lacks, and reads what there is of them.
func (p *Pages) addKinds(ctx context.Context, id auth.Identity, s space, list *views.List) ([]listing.Item, error) {
	found, err := listing.Read(ctx, p.cluster, id, s.listed, s.namespace)
	if err != nil {
		return nil, err
	}
	for _, k := range s.listed {
		_, hidden := found.Forbidden.ByPlural(k.Plural)
		if !hidden || list.Query.Kind == k.Plural {
			list.Kinds = append(list.Kinds, views.Choice{Value: k.Plural, Label: k.Title})
		}
	}
	list.Hidden = hiddenKinds(ofKind(found.Forbidden, list.Query.Kind))
	return found.Items, nil
}

// addTeamsOf adds what the list of all teams says of them: which there are, and of which of them it shows not everything.
func (p *Pages) addTeamsOf(ctx context.Context, id auth.Identity, list *views.List) error {
	names, err := p.cluster.Namespaces(ctx, id)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return errNoTeam
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
	unlisted, err := p.cluster.Unlisted(ctx, id, names)
	for team, kinds := range unlisted {
		unlisted[team] = ofKind(kinds, list.Query.Kind)
	}
	list.Hidden = hiddenOf(unlisted)
	return err
}

// resourcesLive streams the same list.
func (p *Pages) resourcesLive(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	s, q := p.spaceOf(r), queryOf(r.URL.Query())
	frame := views.Frame{Team: s.team}
	known := map[string]bool{}
	for _, k := range s.listed {
		known[k.Plural] = true
	}
	changed := p.follow(r.Context(), func(c cluster.Change) bool {
		return !c.Events && !c.Pods && known[c.Kind] && (s.everywhere() || c.Namespace == s.namespace)
	})
	if q.Phase == views.StuckStatus { // deletions become stuck by themselves
		changed = again(r.Context(), changed)
	}
	return p.streams.Serve(w, r, id.Username, live.Source{
		Changed: changed, Alive: p.alive,
		Allowed: func(ctx context.Context) error { return p.mayList(ctx, id, s) },
		Render: func(ctx context.Context) ([]live.Part, error) {
			list, err := p.list(ctx, id, s, frame, q)
			if err != nil {
				return nil, err
			}
			return listParts(ctx, list)
		},
	})
}

// mayList is nil if the caller may list any kind of the space.
func (p *Pages) mayList(ctx context.Context, id auth.Identity, s space) error {
	if s.everywhere() {
		names, err := p.cluster.Namespaces(ctx, id)
		if err == nil && len(names) == 0 {
			err = errNoTeam
		}
		return err
	}
	for _, k := range s.listed {
		if ok, err := p.cluster.Can(ctx, id, "list", k, s.namespace); ok || err != nil {
			return err
		}
	}
	return mayNotList(s)
}

// mayNotList names the right to one of the kinds: any would do.
func mayNotList(s space) error {
	return &cluster.ForbiddenError{Verb: "list", Resource: s.listed[0].Plural, Namespace: s.namespace}
}

// listParts are the counts and the table; of the table only rows are sent while their order stays.
func listParts(ctx context.Context, list views.List) ([]live.Part, error) {
	out, err := parts(ctx, part{"counts", views.CountsPart(list)}, part{"list", views.ListPart(list)})
	if err != nil {
		return nil, err
	}
	rows := make([]part, 0, len(list.Rows))
	shape := []string{strings.Join(list.Hidden, ","), strconv.Itoa(list.Total), strconv.Itoa(list.Matches), strconv.Itoa(list.Query.Page)}
	for _, r := range list.Rows {
		rows, shape = append(rows, part{r.ID, views.RowPart(r, list)}), append(shape, r.ID)
	}
	table := &out[len(out)-1]
	table.Shape = strings.Join(shape, " ")
	table.Rows, err = parts(ctx, rows...)
	return out, err
}

// part names a component by the id of its element.
type part struct {
	target    string
	component templ.Component
}

func parts(ctx context.Context, named ...part) ([]live.Part, error) {
	out := make([]live.Part, 0, len(named))
	for _, n := range named {
		var b bytes.Buffer
		if err := n.component.Render(ctx, &b); err != nil {
			return nil, err
		}
		out = append(out, live.Part{Target: n.target, HTML: b.Bytes()})
	}
	return out, nil
}

// follow signals when something changes that the page shows; the signal carries no content. It ends with ctx.
func (p *Pages) follow(ctx context.Context, relevant func(cluster.Change) bool) <-chan struct{} {
	return cluster.Concerning(ctx, p.cluster.Follow(ctx), relevant)
}
