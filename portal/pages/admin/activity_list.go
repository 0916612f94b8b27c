package admin

import (
	"context"

	"github.com/portico-platform/portico/web/views"
)

// addActivity adds a page of the recent activity in all namespaces in which the caller can list events.
func (p *Pages) addActivity(ctx context.Context, o tabRequest, view *views.Admin) error {
	done, err := p.Activity(ctx, o.id, "")
	view.Hidden, view.Total = done.Narrow, len(done.Events)
	view.Activity = p.ActivityRows(done.Events, batchOf(view, done.Events))
	return err
}
