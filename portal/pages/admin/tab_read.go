package admin

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// tabRequest is a request for a tab of the platform.
type tabRequest struct {
	id    auth.Identity
	frame views.Frame
	tab   string
	views.AdminQuery
}

func readRequest(r *http.Request, tab string) (tabRequest, error) {
	id, err := page.Caller(r)
	v := r.URL.Query()
	o := tabRequest{id: id, tab: cmp.Or(tab, views.AdminOverview), AdminQuery: views.AdminQuery{
		Search: page.Search(v), Gateway: v.Get("gateway"), Provider: v.Get("provider"), Service: v.Get("service"),
		Orphaned: v.Get("status") == views.OrphanedStatus, Broken: v.Get("status") == phase.NeedsYou.Slug(),
		Unused: v.Get("status") == views.UnusedStatus,
	}}
	o.Batch = page.Batch(v)
	if err == nil && !slices.Contains(views.AdminTabs(), o.tab) {
		err = page.ErrNoPage
	}
	return o, err
}

// overseen returns all objects of a kind that the caller can list. hidden reports that the caller cannot list all.
func (p *Pages) overseen(ctx context.Context, id auth.Identity, name string) (
	all []*unstructured.Unstructured, hidden bool, err error,
) {
	k, ok := p.Cluster.Kinds.Now().ByName(name)
	if !ok {
		return nil, false, nil
	}
	may, err := p.Cluster.Rights.Can(ctx, id, "list", k, "")
	if err != nil {
		return nil, false, err
	}
	all, err = p.Cluster.Objects.List(ctx, id, k, "")
	if page.Unseen(err) {
		err = nil
	}
	return all, !may, err
}

// batchLimit is the number of claims, or quotas, on a page.
const batchLimit = 50

// batchOf returns the requested page of all.
func batchOf[T any](view *views.Admin, all []T) []T {
	view.Matches = len(all)
	shown := listing.BatchOf(len(all), batchLimit, view.Batch)
	view.Batch, view.Batches = shown.Number, shown.Count
	return all[shown.From:shown.To]
}
