package resource

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/commands"
	"github.com/portico-platform/portico/portal/deletion"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// detail shows the page of one object.
func (p *Pages) detail(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readRequest(r)
	if err != nil {
		return err
	}
	p.Ahead(r.Context(), l.id, p.rightsOfDetail(l)...)
	obj, err := p.Cluster.Objects.Get(r.Context(), l.id, l.ref)
	if err != nil {
		return err
	}
	if l.frame, err = p.Frame(r, l.id, l.space, l.ref.Name, views.TabTitle(l.tab), l.ref.Kind.Title); err != nil {
		return err
	}
	l.frame.Section = views.Resources
	// After the user's own change, the page reports that change even if the cache does not have it yet.
	applied := page.AppliedIn(r)
	behind := applied > obj.GetGeneration()
	if behind {
		obj.SetGeneration(applied)
	}
	view, err := p.detailOf(r.Context(), l, obj)
	if err != nil {
		return err
	}
	if behind {
		view.Applied = applied
	}
	return p.Show(w, r, http.StatusOK, views.DetailPage(view))
}

// detailOf returns the content of the object's page.
func (p *Pages) detailOf(ctx context.Context, l objectRequest, obj *unstructured.Unstructured) (views.Detail, error) {
	f := status.FactsIn(l.ref.Kind, obj)
	d := views.Detail{
		Frame: l.frame, Tab: l.tab, Resource: page.ResourceOf(l.space, l.ref.Kind, obj, p.Now()),
		UID: string(obj.GetUID()), Paused: f.Paused,
	}
	d.Headline, d.Advice = headline(l.ref.Kind, obj, d.Resource), advice(f, d.Resource.Phase)
	d.Steps = saidOnce(stepsOf(f, obj, l.ref.Kind, d.Resource, p.Now()), d.Headline)
	d.Progress = progress(f, l.ref.Kind, d.Resource.Phase, d.Steps)
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
	d.MayKeep, d.Kept = deletion.MayKeep(obj, l.ref.Kind), deletion.Kept(obj)
	if d.Blocker, err = p.blocker(ctx, l, obj); err != nil {
		return d, err
	}
	for _, add := range []func(context.Context, objectRequest, *unstructured.Unstructured, *views.Detail) error{
		p.addEvents, p.related, p.addApp, p.addConnect, p.addHostname, p.addChecks, p.addTab,
	} {
		if err := add(ctx, l, obj, &d); err != nil {
			return d, err
		}
	}
	return d, nil
}

// addTab adds the content of the selected tab.
func (p *Pages) addTab(ctx context.Context, l objectRequest, obj *unstructured.Unstructured, d *views.Detail) (
	err error,
) {
	switch l.tab {
	case views.TabObjects:
		d.Tree, err = p.tree(ctx, l, obj)
	case views.TabConditions:
		d.Turns = p.timeline(status.FactsIn(l.ref.Kind, obj))
	case views.TabActivity:
		d.Changes, d.Deeds = changes(obj), p.activity(obj, *d)
	case views.TabHistory:
		d.History, err = p.history(ctx, l, obj, d.MayEdit)
	}
	return err
}

// commands returns the shell commands that show the object and, with mayEdit, those that change it.
func (p *Pages) commands(ref catalog.Ref, obj *unstructured.Unstructured, mayEdit bool) ([]views.Command, error) {
	at := commands.Target{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
	all := commands.Show(at, p.portal)
	if !mayEdit {
		return all, nil
	}
	more, err := commands.Change(at, write.ETag(obj), obj, p.portal)
	return append(all, more...), err
}
