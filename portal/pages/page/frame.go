package page

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// Title returns the unique title of a page, from the most specific part to the least: "orders · Bucket · payments".
// Empty parts are left out.
func Title(s Space, parts ...string) string {
	parts = append(slices.Clone(parts), s.Team.Name)
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}

// Frame returns the frame of a page for the caller; title are the parts of its Title. The switcher has the teams that
// the caller can list, and always the current one: a right to one object is enough to open its page.
func (b *Base) Frame(r *http.Request, id auth.Identity, s Space, title ...string) (views.Frame, error) {
	b.Ahead(r.Context(), id)
	teams, err := b.Teams(r.Context(), id)
	if err != nil {
		return views.Frame{}, err
	}
	f := b.Anybody(id, Title(s, title...))
	f.Team, f.Teams, f.Help = s.Team, teams, b.help(r)
	if i := slices.IndexFunc(teams, func(t views.Team) bool { return t.ID == s.Team.ID }); i >= 0 {
		f.Team.Owner = teams[i].Owner
	} else if s.Team.ID != "" {
		f.Teams = append(f.Teams, s.Team)
	}
	f.Admin, err = b.IsAdmin(r.Context(), id)
	return f, err
}

// Anybody returns a frame without teams.
func (b *Base) Anybody(id auth.Identity, title string) views.Frame {
	return views.Frame{
		Title: title, User: humanize.Person(id.Display()), Email: cmp.Or(id.Email, id.Username),
		Now: b.Now(),
	}
}
