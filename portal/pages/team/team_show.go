package team

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/pages/resource"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// show shows the page of a Team.
func (p *Pages) show(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readRequest(r)
	if err != nil {
		return err
	}
	obj, err := p.Cluster.Objects.Get(r.Context(), l.id, l.ref)
	applied := page.AppliedIn(r)
	if err == nil && applied > obj.GetGeneration() {
		l.applied = applied
		obj, err = p.Cluster.Objects.Current(r.Context(), l.id,
			l.ref) // the cache can lag behind the caller's own change
	}
	if err != nil {
		return err
	}
	return p.showTeam(w, r, l, obj, forms{}, http.StatusOK)
}

// back redirects to the page.
func (p *Pages) back(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readRequest(r)
	if err != nil {
		return err
	}
	return page.SeeOther(w, r, views.OwnerPath(l.ref.Name))
}

// forms are the values in the forms of the page.
type forms struct {
	member   views.MemberForm
	deployer views.DeployerForm
}

// showTeam shows the page with the values in its forms.
func (p *Pages) showTeam(w http.ResponseWriter, r *http.Request, l teamRequest, obj *unstructured.Unstructured,
	f forms, status int,
) error {
	frame, err := p.Frame(r, l.id, page.Space{}, page.OwnerOf(obj).Title, l.ref.Kind.Title)
	if err != nil {
		return err
	}
	view, err := p.viewOf(r.Context(), l, obj)
	if err != nil {
		return err
	}
	view.Frame, view.Form, view.Deployer, view.Applied = frame, f.member, f.deployer, l.applied
	if view.Frame.Section = ""; view.MayAdminister {
		view.Frame.Section = views.AdminSection
	}
	return p.Show(w, r, status, views.OwnerPage(view))
}

// live streams the same page, without the members form.
func (p *Pages) live(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readRequest(r)
	if err != nil {
		return err
	}
	obj, err := p.Cluster.Objects.Get(r.Context(), l.id, l.ref)
	if err != nil {
		return err
	}
	namespaces, applied := teams.NamespacesOf(obj), page.AppliedIn(r)
	changed := p.Follow(r.Context(), func(c feed.Change) bool {
		if c.Kind == l.ref.Kind.Plural {
			return c.Name == l.ref.Name
		}
		return (!c.Events || c.Activity) && !c.Pods && slices.Contains(namespaces, c.Namespace)
	})
	return p.Live(w, r, l.id, page.Live{
		Changed: page.Paced(r.Context(), changed),
		Allowed: func(ctx context.Context) error {
			may, err := p.Cluster.Rights.CanOne(ctx, l.id, "get", l.ref)
			if err == nil && !may {
				err = &failure.ForbiddenError{Verb: "get", Resource: l.ref.Kind.Plural, Name: l.ref.Name}
			}
			return err
		},
		Render: func(ctx context.Context) ([]sse.Part, error) {
			obj, err := p.Cluster.Objects.Get(ctx, l.id, l.ref)
			if err != nil || applied > obj.GetGeneration() { // the page is newer than the cache, which will catch up
				return nil, err
			}
			view, err := p.viewOf(ctx, l, obj)
			if err != nil {
				return nil, err
			}
			return page.Parts(ctx, page.Replace("team-status", views.OwnerStatusPart(view)),
				page.Replace("team-progress", views.OwnerProgressPart(view)),
				page.Replace("team-members", views.OwnerMembersPart(view)),
				page.Replace("team-deployers", views.OwnerDeployersPart(view)),
				page.Replace("team-use", views.OwnerUsePart(view)),
				page.Replace("team-activity", views.OwnerActivityPart(view)))
		},
	})
}

// viewOf returns the view of the Team.
func (p *Pages) viewOf(ctx context.Context, l teamRequest, obj *unstructured.Unstructured) (views.OwnerView, error) {
	t, err := decode(obj)
	if err != nil {
		return views.OwnerView{}, err
	}
	view := views.OwnerView{
		Owner: page.OwnerOf(obj), Name: t.Name, ETag: write.ETag(obj), Prefix: p.Names.Prefix,
		Resource: page.ResourceOf(p.SpaceNamed(page.PlatformTeam), l.ref.Kind, obj, p.Now()), Members: p.membersOf(t),
		Leaving: obj.GetDeletionTimestamp() != nil, Held: int(t.Status.Resources),
	}
	p.addDeployers(t, &view)
	view.Steps = resource.OwnSteps(obj, l.ref.Kind, p.Now())
	for _, a := range t.Spec.Providers {
		view.Accounts = append(view.Accounts, views.Account{Name: a.Name, Regions: a.Regions})
	}
	for _, add := range []func(context.Context, teamRequest, *views.OwnerView) error{
		p.addRights, p.addUse(t), p.addActivity, p.addFirst,
	} {
		if err := add(ctx, l, &view); err != nil {
			return view, err
		}
	}
	return view, nil
}

// addRights adds what the caller can do: owners and admins can change members, and admins everything else.
func (p *Pages) addRights(ctx context.Context, l teamRequest, view *views.OwnerView) (err error) {
	if view.MayManage, err = p.Cluster.Rights.CanOne(ctx, l.id, "patch", l.ref); err != nil {
		return err
	}
	view.MayAdminister, err = p.Cluster.Rights.Can(ctx, l.id, "update", l.ref.Kind, "")
	if err == nil {
		view.MayDelete, err = p.Cluster.Rights.Can(ctx, l.id, "delete", l.ref.Kind, "")
	}
	if err == nil {
		view.MayEndSessions, err = p.Cluster.Sessions.MayEnd(ctx, l.id)
	}
	return err
}

// addUse adds the resources of the namespaces, and their quotas, as far as the caller can see them.
func (p *Pages) addUse(t *v1alpha1.Team) func(context.Context, teamRequest, *views.OwnerView) error {
	return func(ctx context.Context, l teamRequest, view *views.OwnerView) error {
		all, err := p.Cluster.Objects.Overview(ctx, l.id)
		if err != nil {
			return err
		}
		for _, name := range t.NamespaceNames() {
			row := views.OwnedNamespace{Team: views.Team{ID: name, Name: name}}
			row.There = slices.ContainsFunc(t.Status.Namespaces, func(n v1alpha1.TeamNamespaceStatus) bool {
				return n.Name == name
			})
			if j := slices.IndexFunc(t.Spec.Namespaces, func(n v1alpha1.TeamNamespace) bool {
				return n.Name == name
			}); j >= 0 {
				row.Environment = string(t.Spec.Namespaces[j].Environment)
			}
			row.Counts = page.CountsOver(all.Sum(p.requestedIn(name)))
			quotas, err := p.Cluster.Teams.Quotas(ctx, l.id, name)
			if err := page.Hiding(&row.Quotas.Hidden, err); err != nil {
				return err
			}
			row.Quotas.Uses = p.QuotaUses(quotas)
			view.Namespaces = append(view.Namespaces, row)
		}
		return nil
	}
}

// requestedIn returns a function that matches the requestable kinds in a namespace.
func (p *Pages) requestedIn(namespace string) func(overview.Place) bool {
	kinds := p.Cluster.Kinds.Now().Requestable()
	return func(at overview.Place) bool {
		_, requestable := kinds.ByPlural(at.Kind)
		return requestable && at.Namespace == namespace
	}
}

// addFirst adds a link to the catalog while there are no resources, for callers who can request some.
func (p *Pages) addFirst(ctx context.Context, l teamRequest, view *views.OwnerView) error {
	if view.Held > 0 || view.Resource.Phase != phase.Ready {
		return nil
	}
	for _, ns := range view.Namespaces {
		if !ns.There || len(ns.Counts) > 0 {
			continue
		}
		may, err := p.mayRequest(ctx, l, ns.Team.ID)
		if err != nil {
			return err
		}
		if may {
			view.First = cmp.Or(view.First, views.CatalogPath(ns.Team.ID))
		}
	}
	return nil
}

func (p *Pages) mayRequest(ctx context.Context, l teamRequest, namespace string) (bool, error) {
	for _, k := range p.Cluster.Kinds.Now().Requestable() {
		if may, err := p.Cluster.Rights.Can(ctx, l.id, "create", k, namespace); may || err != nil {
			return may, err
		}
	}
	return false, nil
}
