package resource

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/commands"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// objectRequest is a request about one object.
type objectRequest struct {
	id    auth.Identity
	space page.Space
	ref   cluster.Ref
	frame views.Frame
	tab   string
}

func (p *Pages) readRequest(r *http.Request) (objectRequest, error) {
	id, err := page.Caller(r)
	if err != nil {
		return objectRequest{}, err
	}
	l := objectRequest{id: id, space: p.SpaceOf(r), tab: views.TabOverview}
	if t := r.URL.Query().Get("tab"); slices.Contains(views.Tabs(), t) {
		l.tab = t
	}
	l.ref, err = l.space.RefOf(r)
	l.frame = views.Frame{Team: l.space.Team}
	return l, err
}

// detail shows the page of one object.
func (p *Pages) detail(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readRequest(r)
	if err != nil {
		return err
	}
	p.Ahead(r.Context(), l.id, p.rightsOfDetail(l)...)
	obj, err := p.cluster.Get(r.Context(), l.id, l.ref)
	if err != nil {
		return err
	}
	if l.frame, err = p.Frame(r, l.id, l.space, l.ref.Name); err != nil {
		return err
	}
	l.frame.Section = views.Resources
	// Who has just changed it hears so, though the cache may not know yet.
	if n, err := strconv.ParseInt(r.URL.Query().Get("applied"), 10, 32); err == nil && n > obj.GetGeneration() {
		obj.SetGeneration(n)
	}
	view, err := p.detailOf(r.Context(), l, obj)
	if err != nil {
		return err
	}
	return p.Show(w, r, http.StatusOK, views.DetailPage(view))
}

// detailOf returns all that the page says of the object.
func (p *Pages) detailOf(ctx context.Context, l objectRequest, obj *unstructured.Unstructured) (views.Detail, error) {
	f := status.FactsOf(obj)
	d := views.Detail{
		Frame: l.frame, Tab: l.tab, Resource: page.ResourceOf(l.space, l.ref.Kind, obj, p.Now()),
		UID: string(obj.GetUID()), Paused: f.Paused,
	}
	d.Headline, d.Advice = headline(obj, d.Resource), advice(f, d.Resource.Phase)
	d.Steps = stepsOf(f, obj, l.ref.Kind, d.Resource, p.Now())
	d.Progress = progress(f, l.ref.Kind, d.Steps)
	d.Facts = factsList(obj, l.ref.Kind, d.Resource, p.Now())
	if err := p.addRights(ctx, l, &d); err != nil {
		return d, err
	}
	d.Cannot = cannotAct(l, d)
	text, err := catalog.ToYAML(obj)
	if err != nil {
		return d, err
	}
	d.YAML = string(text)
	if d.Commands, err = p.commands(l.ref, obj, d.MayEdit); err != nil {
		return d, err
	}
	d.Recreate = recreateNumber(obj)
	if d.Blocker, err = p.blocker(ctx, l, obj); err != nil {
		return d, err
	}
	for _, add := range []func(context.Context, objectRequest, *unstructured.Unstructured, *views.Detail) error{
		p.addEvents, p.related, p.addApp, p.addHostname, p.addChecks, p.addTab,
	} {
		if err := add(ctx, l, obj, &d); err != nil {
			return d, err
		}
	}
	return d, nil
}

// addRights says what the user may do with the object.
func (p *Pages) addRights(ctx context.Context, l objectRequest, d *views.Detail) (err error) {
	if d.MayUpdate, err = p.cluster.Can(ctx, l.id, "patch", l.ref.Kind, l.space.Namespace); err != nil {
		return err
	}
	if d.MayEdit, err = p.mayEdit(ctx, l); err != nil {
		return err
	}
	if d.Another, err = p.anotherPath(ctx, l); err != nil {
		return err
	}
	d.MayDelete, err = p.cluster.Can(ctx, l.id, "delete", l.ref.Kind, l.space.Namespace)
	return err
}

// headline returns the sentence on top. A ready object has nothing in the way, which is worth saying too.
func headline(obj *unstructured.Unstructured, r views.Resource) string {
	switch {
	case r.Phase != phase.Ready || r.Why != "":
		return r.Why
	case catalog.TextAt(obj, "spec", "managementPolicy") == string(v1alpha1.ManagementObserve):
		return "It is in AWS; Portico only observes it, and changes nothing there."
	case catalog.TextAt(obj, "spec", "providerRef", "name") != "":
		return "It is in AWS just as described here; Portico checks it regularly and repairs what changes outside."
	}
	return "Everything is as described here; Portico checks it regularly."
}

// addEvents reads the events, unless the caller may not see events: the rest of the page is there all the same.
func (p *Pages) addEvents(ctx context.Context, l objectRequest, obj *unstructured.Unstructured, d *views.Detail) error {
	events, err := p.cluster.Events(ctx, l.id, obj)
	if _, ok := errors.AsType[*cluster.ForbiddenError](err); ok {
		d.NoEvents = "You may not see events here: your role lacks the right to list them."
		return nil
	}
	if err != nil {
		return err
	}
	d.NoEvents = "Nothing has happened lately. Kubernetes forgets events after about an hour."
	for _, e := range events {
		d.Events = append(d.Events, p.happening(e))
	}
	return nil
}

func (p *Pages) happening(e *corev1.Event) views.Happening {
	count := e.Count
	if e.Series != nil {
		count = e.Series.Count
	}
	return views.Happening{
		Reason: e.Reason, Text: humanize.Sentence(e.Message), Warning: e.Type == corev1.EventTypeWarning,
		Count: count, At: views.Moment{At: cluster.EventTime(e).Time, Now: p.Now()},
	}
}

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
	uid := r.URL.Query().Get("uid") // of what the page shows; without one, of what is there first
	return p.Live(w, r, l.id, page.Live{
		Changed: changed,
		Allowed: func(ctx context.Context) error {
			_, err := p.cluster.Get(ctx, l.id, l.ref)
			if apierrors.IsNotFound(err) {
				return nil // the next rendering says so
			}
			return err
		},
		Render: func(ctx context.Context) ([]sse.Part, error) {
			obj, err := p.cluster.Get(ctx, l.id, l.ref)
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

// gone returns the last word about a deleted object; what the page showed of it stays. heir is the UID of the one that has its
// name by now, if there is one.
func (p *Pages) gone(ctx context.Context, l objectRequest, heir string) ([]sse.Part, error) {
	d := views.Detail{
		Frame: l.frame, Tab: l.tab, Gone: true, Replaced: heir != "",
		Resource: views.Resource{Name: l.ref.Name, Href: views.ResourcePath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name)},
	}
	out, err := page.Parts(ctx, page.Replace("buttons", views.ButtonsPart(d)), page.Replace("status", views.StatusPart(d)))
	if err != nil {
		return nil, err
	}
	return out, sse.ErrFinished
}

// addTab adds what only the chosen tab shows.
func (p *Pages) addTab(ctx context.Context, l objectRequest, obj *unstructured.Unstructured, d *views.Detail) (err error) {
	switch l.tab {
	case views.TabObjects:
		d.Tree, err = p.tree(ctx, l, obj)
	case views.TabConditions:
		d.Turns = p.timeline(status.FactsOf(obj))
	case views.TabActivity:
		d.Changes, d.Deeds = changes(obj), p.activity(obj, *d)
	}
	return err
}

// commands returns the lines of a shell that show the object, and for those who may edit it the ones that change it.
func (p *Pages) commands(ref cluster.Ref, obj *unstructured.Unstructured, mayEdit bool) ([]views.Command, error) {
	at := commands.Target{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
	all := commands.Show(at, p.portal)
	if !mayEdit {
		return all, nil
	}
	more, err := commands.Change(at, cluster.ETag(obj), obj, p.portal)
	return append(all, more...), err
}
