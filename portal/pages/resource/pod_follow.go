package resource

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// podLive streams the same page until the Pod is gone.
func (p *Pages) podLive(w http.ResponseWriter, r *http.Request) error {
	at, err := p.readPod(r)
	if err != nil {
		return err
	}
	find := func(ctx context.Context) (podRequest, error) { return p.findPod(ctx, at.objectRequest, at.pod.Name) }
	return p.Live(w, r, at.id, page.Live{
		Changed: page.Again(r.Context(), p.followObject(r.Context(), at.objectRequest)),
		Allowed: func(ctx context.Context) error {
			_, err := find(ctx)
			if goneError(err) {
				return nil // the next rendering shows it
			}
			return err
		},
		Render: func(ctx context.Context) ([]sse.Part, error) {
			now, err := find(ctx)
			if goneError(err) {
				return podGone(ctx, at)
			}
			if err != nil {
				return nil, err
			}
			d, err := p.podDetail(ctx, now)
			if err != nil {
				return nil, err
			}
			return page.Parts(ctx, page.Replace("status", views.PodStatusPart(d)),
				page.Replace("body", views.PodBodyPart(d)))
		},
	})
}

func goneError(err error) bool { return errors.Is(err, page.ErrNoPod) || apierrors.IsNotFound(err) }

// podGone returns the final message about a Pod; the page's content stays.
func podGone(ctx context.Context, at podRequest) ([]sse.Part, error) {
	d := views.PodDetail{Frame: at.frame, Gone: true, Pod: at.view}
	d.App.Name, d.App.Href = at.ref.Name, views.ResourcePath(at.space.Team.ID, at.ref.Kind.Plural, at.ref.Name)
	d.Pod.Look = views.Look{Word: "Gone", Icon: "check", Tone: "idle"}
	out, err := page.Parts(ctx, page.Replace("status", views.PodStatusPart(d)))
	if err != nil {
		return nil, err
	}
	return out, sse.ErrFinished
}
