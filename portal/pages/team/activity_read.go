package team

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// addActivity adds the recent activity in the namespaces in which the caller can list events.
func (p *Pages) addActivity(ctx context.Context, l teamRequest, view *views.OwnerView) error {
	var all []*corev1.Event
	seen := len(view.Namespaces) == 0
	for _, ns := range view.Namespaces {
		done, err := p.Activity(ctx, l.id, ns.Team.ID)
		if page.Unseen(err) {
			continue
		}
		if err != nil {
			return err
		}
		all, seen = append(all, done.Events...), true
	}
	slices.SortStableFunc(all, func(a, b *corev1.Event) int {
		return feed.EventTime(b).Compare(feed.EventTime(a).Time)
	})
	view.Activity = p.ActivityOf(all)
	view.Activity.Hidden = !seen
	return nil
}
