package admin

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// addOwners adds the Teams: those that need attention first.
func (p *Pages) addOwners(ctx context.Context, o tabRequest, view *views.Admin) error {
	all, hidden, err := p.overseen(ctx, o.id, page.TeamKind)
	if err != nil {
		return err
	}
	k, _ := p.Cluster.Kinds.Now().ByName(page.TeamKind)
	if view.MayCreate, err = p.Cluster.Rights.Can(ctx, o.id, "create", k, ""); err != nil {
		return err
	}
	counts, err := p.Cluster.Objects.Overview(ctx, o.id)
	if err != nil {
		return err
	}
	quotas, err := p.Cluster.Teams.Quotas(ctx, o.id, "")
	if err != nil && !page.Unseen(err) {
		return err
	}
	view.Hidden, view.Total = hidden, len(all)
	for _, obj := range all {
		if row := p.ownerRow(obj, counts, quotas); humanize.HasWords(o.Search, ownerWords(row, obj)) {
			view.Owners = append(view.Owners, row)
		}
	}
	slices.SortStableFunc(view.Owners, func(a, b views.OwnerRow) int {
		return cmp.Or(cmp.Compare(a.Resource.Phase.Urgency(), b.Resource.Phase.Urgency()), cmp.Compare(a.Name, b.Name))
	})
	view.Owners = batchOf(view, view.Owners)
	return nil
}

// ownerWords returns the text that a search matches.
func ownerWords(row views.OwnerRow, obj *unstructured.Unstructured) string {
	words := []string{row.Name, row.Owner.Title}
	for _, n := range row.Namespaces {
		words = append(words, n.Label)
	}
	list, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", "members")
	members, _ := list.([]any)
	for _, m := range members {
		if one, ok := m.(map[string]any); ok {
			group, _ := one["group"].(string)
			user, _ := one["user"].(string)
			words = append(words, group, user)
		}
	}
	return strings.Join(words, " ")
}

func (p *Pages) ownerRow(obj *unstructured.Unstructured, counts overview.Overview,
	quotas []teams.Quota,
) views.OwnerRow {
	row := views.OwnerRow{Resource: p.ResourceNamed(page.TeamKind, obj), Owner: page.OwnerOf(obj), Name: obj.GetName()}
	has := teams.NamespacesOf(obj)
	for _, name := range has {
		row.Namespaces = append(row.Namespaces, views.Choice{Value: views.TeamPath(name), Label: name})
	}
	if n, ok, _ := unstructured.NestedInt64(obj.Object, "status", "members"); ok {
		row.Members = int(n)
	}
	kinds := p.Cluster.Kinds.Now().Requestable()
	row.Counts = page.CountsOver(counts.Sum(func(at overview.Place) bool {
		_, requestable := kinds.ByPlural(at.Kind)
		return requestable && slices.Contains(has, at.Namespace)
	}))
	own := slices.DeleteFunc(slices.Clone(quotas), func(q teams.Quota) bool {
		return !slices.Contains(has, q.Namespace)
	})
	if uses := p.QuotaUses(own); len(uses) > 0 {
		fullest := slices.MaxFunc(uses, func(a, b views.QuotaUse) int { return cmp.Compare(a.Percent, b.Percent) })
		row.Fullest = &fullest
	}
	return row
}
