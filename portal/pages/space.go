package pages

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/web/views"
)

// platformTeam stands for what belongs to no namespace. No namespace can have this name.
const platformTeam = "_platform"

// allTeams stands for every namespace that the caller may list: there is a list of its resources, and nothing else. No
// namespace can have this name.
const allTeams = views.AllTeams

// space is where a page is: a team's namespace, the platform with its cluster-scoped kinds, or all teams.
type space struct {
	team      views.Team
	namespace string          // "" for the platform, and for all teams
	kinds     catalog.Catalog // that can be requested here
	listed    catalog.Catalog // of which there is a list
	shown     catalog.Catalog // of which objects can be looked at: others keep some of them
	people    *people         // what users are called
}

func (s space) everywhere() bool { return s.team.ID == allTeams }

// spaceOf reads the team from the path. It says nothing about whether the team exists or the caller may see it.
func (p *Pages) spaceOf(r *http.Request) space { return p.spaceNamed(chi.URLParam(r, "team")) }

// possibleTeam refuses what no namespace can be called before Kubernetes is asked, where names become part of a URL. The
// answer is the one to those who have no rights there, as nobody can have any.
func (p *Pages) possibleTeam(next http.Handler) http.Handler {
	return p.page(func(w http.ResponseWriter, r *http.Request) error {
		team := chi.URLParam(r, "team")
		if team != platformTeam && team != allTeams && len(validation.IsDNS1123Label(team)) > 0 {
			return mayNotList(p.spaceNamed(team))
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

// oneTeam refuses what there is of one team only.
func (p *Pages) oneTeam(next http.Handler) http.Handler {
	return p.page(func(w http.ResponseWriter, r *http.Request) error {
		if p.spaceOf(r).everywhere() {
			return errNoPage
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

func (p *Pages) spaceNamed(team string) space {
	switch team {
	case allTeams:
		return space{people: &p.people, team: views.Team{ID: allTeams, Name: "all teams"}, listed: p.cluster.Kinds().Requestable()}
	case platformTeam:
		all := p.cluster.Kinds().Namespaced(false)
		return space{people: &p.people, team: views.Team{ID: platformTeam, Name: "the platform"}, kinds: all.Offered(), listed: all.Offered(), shown: all}
	}
	all := p.cluster.Kinds().Namespaced(true)
	return space{people: &p.people, team: views.Team{ID: team, Name: team, About: true}, namespace: team, kinds: all.Offered(), listed: all.Offered(), shown: all}
}

// kindOf reads the kind from the path; only those given are found.
func kindOf(r *http.Request, kinds catalog.Catalog) (catalog.Kind, error) {
	k, ok := kinds.ByPlural(chi.URLParam(r, "kind"))
	if !ok {
		return catalog.Kind{}, errNoPage
	}
	return k, nil
}

// refOf reads the object from the path.
func (s space) refOf(r *http.Request) (cluster.Ref, error) {
	k, err := kindOf(r, s.shown)
	return cluster.Ref{Kind: k, Namespace: s.namespace, Name: chi.URLParam(r, "name")}, err
}

// teams are the spaces that the caller may look into.
func (p *Pages) teams(ctx context.Context, id auth.Identity) ([]views.Team, error) {
	names, err := p.cluster.Namespaces(ctx, id)
	if err != nil {
		return nil, err
	}
	teams := make([]views.Team, 0, len(names)+1)
	for _, n := range names {
		teams = append(teams, views.Team{ID: n, Name: n, About: true})
	}
	if len(teams) > 1 {
		teams = append(teams, views.Team{ID: allTeams, Name: "All teams"})
	}
	for _, k := range p.spaceNamed(platformTeam).kinds {
		ok, err := p.cluster.Can(ctx, id, "list", k, "")
		if err != nil {
			return nil, err
		}
		if ok {
			return append(teams, views.Team{ID: platformTeam, Name: "Platform"}), nil
		}
	}
	return teams, nil
}

// home leads to the team that the caller's groups name. Without one it leads those who look after the platform to what they
// see of it, and others to the first of their teams.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	teams, err := p.teams(r.Context(), id)
	if err != nil {
		return err
	}
	if len(teams) == 0 {
		return errNoTeam
	}
	if own, named := teamOf(teams, id.Groups); named {
		return seeOther(w, r, views.TeamPath(own.ID))
	}
	admin, err := p.isAdmin(r.Context(), id)
	if err != nil {
		return err
	}
	if admin {
		return seeOther(w, r, views.AdminPath)
	}
	return seeOther(w, r, views.TeamPath(teams[0].ID))
}

// teamOf is the first team that is named like one of the groups, whatever stands before or after the name.
func teamOf(teams []views.Team, groups []string) (team views.Team, named bool) {
	i := slices.IndexFunc(teams, func(t views.Team) bool {
		return slices.ContainsFunc(groups, func(g string) bool {
			return slices.Contains(strings.FieldsFunc(g, func(r rune) bool { return strings.ContainsRune(":/-_. ", r) }), t.ID)
		})
	})
	if i < 0 {
		return team, false
	}
	return teams[i], true
}

// switchTeam answers the team switcher.
func (p *Pages) switchTeam(w http.ResponseWriter, r *http.Request) error {
	team := r.URL.Query().Get("team")
	if team == "" {
		return seeOther(w, r, "/")
	}
	return seeOther(w, r, views.TeamPath(team))
}
