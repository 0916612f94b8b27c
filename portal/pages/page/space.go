package page

import (
	"cmp"
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/web/views"
)

// PlatformTeam is the ID of the space of cluster-scoped objects. No namespace can have this name.
const PlatformTeam = views.PlatformTeam

// AllTeams is the ID of the space of every namespace that the caller can list: it has a list of resources, and nothing
// else. No namespace can have this name.
const AllTeams = views.AllTeams

// Space is where a page is: a team's namespace, the platform with its cluster-scoped kinds, or all teams.
type Space struct {
	Team      views.Team
	Namespace string          // "" for the platform, and for all teams
	Kinds     catalog.Catalog // requestable here
	Listed    catalog.Catalog // listed here
	Shown     catalog.Catalog // with pages of objects: some are read-only
	people    *people         // display names of users
}

// Everywhere reports whether the space is that of all teams.
func (s Space) Everywhere() bool { return s.Team.ID == AllTeams }

// SpaceOf returns the space of the team in the path. It does not check that the team exists or that the caller can see
// it.
func (b *Base) SpaceOf(r *http.Request) Space { return b.SpaceNamed(chi.URLParam(r, "team")) }

// CallerInTeam returns the caller, and the space of the team in the path. Cluster-scoped spaces have no such pages.
func (b *Base) CallerInTeam(r *http.Request) (auth.Identity, Space, error) {
	id, err := Caller(r)
	s := b.SpaceOf(r)
	if err == nil && s.Namespace == "" {
		err = ErrNoPage
	}
	return id, s, err
}

// SpaceNamed returns the space of a team, or one of the two special spaces.
func (b *Base) SpaceNamed(team string) Space {
	switch team {
	case AllTeams:
		return Space{
			people: &b.people, Team: views.Team{ID: AllTeams, Name: "all teams"},
			Listed: b.Cluster.Kinds.Now().Requestable(),
		}
	case PlatformTeam:
		all := b.Cluster.Kinds.Now().Namespaced(false)
		return Space{
			people: &b.people, Team: views.Team{ID: PlatformTeam, Name: "the platform"}, Kinds: all.Offered(),
			Listed: all.Offered(), Shown: all,
		}
	}
	all := b.Cluster.Kinds.Now().Namespaced(true)
	return Space{
		people: &b.people, Team: views.Team{ID: team, Name: team, About: true}, Namespace: team,
		Kinds: all.Offered(), Listed: all.Offered(), Shown: all,
	}
}

// KindOf returns the kind in the path, which must be among kinds.
func KindOf(r *http.Request, kinds catalog.Catalog) (catalog.Kind, error) {
	k, ok := kinds.ByPlural(chi.URLParam(r, "kind"))
	if !ok {
		return catalog.Kind{}, ErrNoPage
	}
	return k, nil
}

// RefOf returns the object in the path.
func (s Space) RefOf(r *http.Request) (catalog.Ref, error) {
	k, err := KindOf(r, s.Shown)
	if err != nil {
		return catalog.Ref{}, err
	}
	return Ref(r, k, s.Namespace)
}

// Ref returns the object of the kind that the path names; without a name in the path it is one to be made. A name that
// no object can have is not found.
func Ref(r *http.Request, k catalog.Kind, namespace string) (catalog.Ref, error) {
	name := chi.URLParam(r, "name")
	if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		return catalog.Ref{}, apierrors.NewNotFound(k.Resource.GroupResource(), name)
	}
	return catalog.Ref{Kind: k, Namespace: namespace, Name: name}, nil
}

// Teams returns the spaces that the caller can see.
func (b *Base) Teams(ctx context.Context, id auth.Identity) ([]views.Team, error) {
	names, err := b.Cluster.Rights.Namespaces(ctx, id)
	if err != nil {
		return nil, err
	}
	owners, err := b.owners(ctx, id)
	if err != nil {
		return nil, err
	}
	teams := make([]views.Team, 0, len(names)+1)
	for _, n := range names {
		teams = append(teams, views.Team{ID: n, Name: n, About: true, Owner: owners[n]})
	}
	if len(teams) > 1 {
		teams = append(teams, views.Team{ID: AllTeams, Name: "All teams"})
	}
	for _, k := range b.SpaceNamed(PlatformTeam).Kinds {
		ok, err := b.Cluster.Rights.Can(ctx, id, "list", k, "")
		if err != nil {
			return nil, err
		}
		if ok {
			return append(teams, views.Team{ID: PlatformTeam, Name: "Platform"}), nil
		}
	}
	return teams, nil
}

// owners returns the Teams that the caller can see, by their namespaces.
func (b *Base) owners(ctx context.Context, id auth.Identity) (map[string]views.Owner, error) {
	all, err := b.Cluster.Teams.Visible(ctx, id)
	owners := map[string]views.Owner{}
	for _, t := range all {
		for _, namespace := range teams.NamespacesOf(t) {
			owners[namespace] = OwnerOf(t)
		}
	}
	return owners, err
}

// OwnerOf returns a namespace's view of its Team.
func OwnerOf(t *unstructured.Unstructured) views.Owner {
	suspended, _, _ := unstructured.NestedBool(t.Object, "spec", "suspended")
	return views.Owner{
		Href: views.OwnerPath(t.GetName()), Title: cmp.Or(catalog.TextAt(t, "spec", "title"), t.GetName()),
		Contact: catalog.TextAt(t, "spec", "contact"), Suspended: suspended,
	}
}

// MayNotList returns the error for a caller who can list nothing there: it names the right to one of the kinds, any of
// which would be enough.
func MayNotList(s Space) error {
	return &failure.ForbiddenError{Verb: "list", Resource: s.Listed[0].Plural, Namespace: s.Namespace}
}

// Editable returns the kinds whose objects people edit.
func Editable(s Space) catalog.Catalog {
	var out catalog.Catalog
	for _, k := range s.Shown {
		if k.KeptBy != catalog.KeptByOperator {
			out = append(out, k)
		}
	}
	return out
}
