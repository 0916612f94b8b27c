package resource

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// addEvents adds the events; a caller without the right sees the page without them.
func (p *Pages) addEvents(ctx context.Context, l objectRequest, obj *unstructured.Unstructured, d *views.Detail) error {
	events, err := p.Cluster.Objects.Events(ctx, l.id, obj)
	d.Events, d.NoEvents, err = p.happenings(events, err)
	return err
}

// happenings returns the view of the events, or why there are none.
func (p *Pages) happenings(events []*corev1.Event, err error) (all []views.Happening, none string, other error) {
	if _, ok := errors.AsType[*failure.ForbiddenError](err); ok {
		return nil, "You are not allowed to see events here: your role lacks the right to list them.", nil
	}
	for _, e := range events {
		all = append(all, p.happening(e))
	}
	return all, "Nothing has happened lately. Kubernetes forgets events after about an hour.", err
}

func (p *Pages) happening(e *corev1.Event) views.Happening {
	return views.Happening{
		Reason: e.Reason, Text: humanize.Sentence(e.Message), Warning: e.Type == corev1.EventTypeWarning,
		Done:  e.ReportingController == activity.Controller,
		Count: feed.EventCount(e), At: views.Moment{At: feed.EventTime(e).Time, Now: p.Now()},
	}
}
