package page

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/web/views"
)

// RecentActivity is the number of activities on a team's page.
const RecentActivity = 10

// Activity returns the recent activity that the caller can see; see cluster.Cluster.
func (b *Base) Activity(ctx context.Context, id auth.Identity, namespace string) (objects.Activity, error) {
	return b.Cluster.Objects.Activity(ctx, id, namespace)
}

// ActivityOf returns the view of the first activities, newest first.
func (b *Base) ActivityOf(events []*corev1.Event) views.Activity {
	return views.Activity{
		Rows: b.ActivityRows(events, events[:min(RecentActivity, len(events))]),
		More: len(events) > RecentActivity,
	}
}

// ActivityRows returns the rows of some of all events. A deleted object has no link.
func (b *Base) ActivityRows(all, some []*corev1.Event) []views.ActivityRow {
	gone := map[types.UID]bool{}
	for _, e := range all {
		if e.Reason == activity.Deleted {
			gone[e.InvolvedObject.UID] = true
		}
	}
	var rows []views.ActivityRow
	for _, e := range some {
		of := e.InvolvedObject
		k, known := b.Cluster.Kinds.Now().ByName(of.Kind)
		row := views.ActivityRow{
			Text: e.Message, Icon: ActivityIcon(e.Reason), Kind: cmp.Or(k.Title, of.Kind), Resource: views.Choice{
				Label: of.Name,
			},
			Count: feed.EventCount(e), At: b.Moment(feed.EventTime(e).Time),
		}
		if known && !gone[of.UID] {
			row.Resource.Value = views.ResourcePath(cmp.Or(of.Namespace, PlatformTeam), k.Plural, of.Name)
		}
		s := b.SpaceNamed(cmp.Or(of.Namespace, PlatformTeam))
		row.Team = views.Choice{Value: views.TeamPath(s.Team.ID), Label: s.Team.Name}
		rows = append(rows, row)
	}
	return rows
}

// ActivityIcon returns the icon of an activity.
func ActivityIcon(reason string) string {
	switch reason {
	case activity.Created:
		return "plus"
	case activity.Deleted:
		return "bin"
	case activity.Paused:
		return "pause"
	case activity.LogsRead:
		return "search"
	}
	return "info"
}
