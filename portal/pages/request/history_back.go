package request

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// back shows the review of an edit that restores the spec of an earlier generation: the edit is based on the current
// version, and nothing changes before it is applied. For a generation that is no longer recorded it redirects to the
// history.
func (p *Pages) back(w http.ResponseWriter, r *http.Request, f formRequest, generation string) error {
	all, err := p.Cluster.Operator.History(r.Context(), f.id, f.ref(f.edit.Name), f.edit.Object)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(v cluster.Version) bool {
		return strconv.FormatInt(v.Generation, 10) == generation
	})
	if i < 0 {
		return page.SeeOther(w, r, views.ResourcePath(f.space.Team.ID, f.kind.Plural, f.edit.Name)+"?tab="+
			views.TabHistory)
	}
	d, stays, err := form.Back(f.kind, all[i].Spec, f.facts())
	if err != nil {
		return err
	}
	return p.review(w, r, f, d, stays...)
}
