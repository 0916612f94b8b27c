package request

import (
	"context"
	"net/http"
	"slices"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// lookAgain is the number of seconds until a page reloads while AWS has not answered.
const lookAgain = "2"

// deletedList shows what remains in AWS of a team's deleted resources, with links to restore them.
func (p *Pages) deletedList(w http.ResponseWriter, r *http.Request) error {
	id, s, err := p.CallerInTeam(r)
	if err != nil {
		return err
	}
	all, err := p.Cluster.Operator.Deleted(r.Context(), id, s.Namespace)
	if err != nil {
		return err
	}
	frame, err := p.Frame(r, id, s, "Deleted resources")
	if err != nil {
		return err
	}
	frame.Section = views.Resources
	view := views.DeletedList{Frame: frame, Known: all.Known, Pending: all.Pending}
	for _, problem := range all.Problems {
		view.Problems = append(view.Problems, humanize.Sentence(problem))
	}
	for _, d := range all.Items {
		one, err := p.deletedOne(r.Context(), id, s, d)
		if err != nil {
			return err
		}
		if one.Kind != "" {
			view.All = append(view.All, one)
		}
	}
	if all.Pending {
		w.Header().Set("Refresh", lookAgain)
	}
	return p.Show(w, r, http.StatusOK, views.DeletedPage(view))
}

// deletedOne returns a row of the list, without a kind if the portal does not know it.
func (p *Pages) deletedOne(ctx context.Context, id auth.Identity, s page.Space, d operatorapi.Deleted) (
	views.Deleted, error,
) {
	kind, known := s.Kinds.ByName(d.Kind)
	if !known {
		return views.Deleted{}, nil
	}
	one := views.Deleted{
		Kind: kind.Title, Icon: kind.Icon, Name: d.Name, ID: d.ID, Facts: d.Facts, Account: d.Provider,
		Region: d.Region, Snapshot: d.Snapshot, NameInUse: d.NameInUse,
	}
	if d.Taken != nil {
		one.Taken = p.Moment(*d.Taken)
	}
	may, err := p.Cluster.Rights.Can(ctx, id, "create", kind, s.Namespace)
	if may && (d.Snapshot || !d.NameInUse) {
		one.Restore = views.RestorePath(s.Team.ID, kind.Plural, d.ARN)
	}
	return one, err
}

// restored returns the draft that adopts the resource with this ARN; false if it no longer exists in AWS, or that is
// unknown.
func (p *Pages) restored(ctx context.Context, f formRequest, arn string, offers form.Offers) (form.Draft, bool, error) {
	all, err := p.Cluster.Operator.Deleted(ctx, f.id, f.space.Namespace)
	if err != nil {
		return form.Draft{}, false, err
	}
	i := slices.IndexFunc(all.Items, func(d operatorapi.Deleted) bool { return d.ARN == arn && d.Kind == f.kind.Name })
	if i < 0 {
		return form.Draft{}, false, nil
	}
	return form.Restore(f.kind, all.Items[i], f.facts(), offers), true, nil
}
