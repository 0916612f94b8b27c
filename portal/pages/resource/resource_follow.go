package resource

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// detailLive streams the same page until the object is gone.
func (p *Pages) detailLive(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readRequest(r)
	if err != nil {
		return err
	}
	changed := p.followRelated(r.Context(), l)
	if l.tab == views.TabOverview || l.tab == views.TabActivity {
		changed = page.Again(r.Context(), changed)
	}
	uid := r.URL.Query().Get("uid") // of the object on the page; without one, of the first object found
	applied := page.AppliedIn(r)
	return p.Live(w, r, l.id, page.Live{
		Changed: changed,
		Allowed: func(ctx context.Context) error {
			_, err := p.Cluster.Objects.Get(ctx, l.id, l.ref)
			if apierrors.IsNotFound(err) {
				return nil // the next rendering reports it
			}
			return err
		},
		Render: func(ctx context.Context) ([]sse.Part, error) {
			obj, err := p.Cluster.Objects.Get(ctx, l.id, l.ref)
			if apierrors.IsNotFound(err) {
				return p.gone(ctx, l, "")
			}
			if err != nil {
				return nil, err
			}
			if now := string(obj.GetUID()); uid != "" && uid != now {
				return p.gone(ctx, l, now)
			}
			uid = string(obj.GetUID())
			if applied > obj.GetGeneration() {
				obj.SetGeneration(applied)
			}
			return p.detailParts(ctx, l, obj)
		},
	})
}

func (p *Pages) detailParts(ctx context.Context, l objectRequest, obj *unstructured.Unstructured) ([]sse.Part, error) {
	d, err := p.detailOf(ctx, l, obj)
	if err != nil {
		return nil, err
	}
	return page.Parts(ctx, page.Replace("buttons", views.ButtonsPart(d)), page.Replace("status", views.StatusPart(d)),
		page.Replace("tabs", views.TabsPart(d)), page.Replace("body", views.BodyPart(d)))
}

// gone returns the final message about a deleted object; the page's content stays. heir is the UID of another object
// that has the name now, or "".
func (p *Pages) gone(ctx context.Context, l objectRequest, heir string) ([]sse.Part, error) {
	d := views.Detail{
		Frame: l.frame, Tab: l.tab, Gone: true, Replaced: heir != "",
		Resource: views.Resource{Name: l.ref.Name, Href: views.ResourcePath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name)},
	}
	out, err := page.Parts(ctx, page.Replace("buttons", views.ButtonsPart(d)),
		page.Replace("status", views.StatusPart(d)))
	if err != nil {
		return nil, err
	}
	return out, sse.ErrFinished
}

// followObject returns a channel that receives when the object, its events or its Pods change.
func (p *Pages) followObject(ctx context.Context, l objectRequest) <-chan struct{} {
	return p.Follow(ctx, func(c feed.Change) bool {
		return c.Kind == l.ref.Kind.Plural && c.Namespace == l.ref.Namespace && c.Name == l.ref.Name
	})
}

// followRelated does what followObject does, and also receives changes of objects of the kinds to which the object can
// refer, because the page shows which of them blocks it.
func (p *Pages) followRelated(ctx context.Context, l objectRequest) <-chan struct{} {
	plurals := map[string]bool{}
	for _, r := range l.ref.Kind.Refers {
		for _, name := range r.Kinds {
			if k, ok := p.Cluster.Kinds.Now().ByName(name); ok {
				plurals[k.Plural] = true
			}
		}
	}
	return p.Follow(ctx, func(c feed.Change) bool {
		if c.Namespace != l.ref.Namespace {
			return false
		}
		own := c.Kind == l.ref.Kind.Plural && c.Name == l.ref.Name
		return own || plurals[c.Kind] && !c.Events && !c.Pods
	})
}
