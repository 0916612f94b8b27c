package resource

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// addRights adds what the user can do with the object.
func (p *Pages) addRights(ctx context.Context, l objectRequest, d *views.Detail) (err error) {
	if c := l.ref.Kind.Controller; c != nil { // Portico's annotations, by which acts are requested, mean nothing to it
		d.Keeper = views.Choice{Label: c.Name, Value: c.Documentation}
	} else if d.MayUpdate, err = p.Cluster.Rights.Can(ctx, l.id, "patch", l.ref.Kind, l.space.Namespace); err != nil {
		return err
	}
	if d.MayEdit, err = p.mayEdit(ctx, l); err != nil {
		return err
	}
	if d.Another, err = p.anotherPath(ctx, l); err != nil {
		return err
	}
	d.MayDelete, err = p.Cluster.Rights.Can(ctx, l.id, "delete", l.ref.Kind, l.space.Namespace)
	return err
}

// mayEdit reports whether there is a form in which the caller can change objects like that of l.
func (p *Pages) mayEdit(ctx context.Context, l objectRequest) (bool, error) {
	k := l.ref.Kind
	if _, ok := page.Editable(l.space).ByPlural(k.Plural); !ok || k.Fixed != "" {
		return false, nil
	}
	return p.Cluster.Rights.Can(ctx, l.id, "update", k, l.space.Namespace)
}

// anotherPath returns the URL of the form for a copy of the object of l, "" for callers who cannot request one.
func (p *Pages) anotherPath(ctx context.Context, l objectRequest) (string, error) {
	if _, ok := l.space.Kinds.ByPlural(l.ref.Kind.Plural); !ok {
		return "", nil
	}
	may, err := p.Cluster.Rights.Can(ctx, l.id, "create", l.ref.Kind, l.space.Namespace)
	if err != nil || !may {
		return "", err
	}
	return views.AnotherPath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name), nil
}

// cannotAct returns why some actions are not possible with this object; "" if all are. The page says why an action is
// not offered.
func cannotAct(l objectRequest, d views.Detail) string {
	k := l.ref.Kind
	switch {
	case k.Controller != nil && (d.MayEdit || d.MayDelete):
		return ""
	case !d.MayUpdate && !d.MayDelete:
		return "Your role in " + l.space.Team.Name + " can view this, but not change or delete it. " +
			page.WhomToAsk(l.space)
	case !d.MayUpdate:
		return "Your role in " + l.space.Team.Name + " cannot change this. " + page.WhomToAsk(l.space)
	}
	var words string
	switch {
	case k.KeptBy == catalog.KeptByOperator:
		words = "Portico keeps this up to date by itself: there is nothing to edit."
	case k.Fixed != "":
		words = "It cannot be edited: " + humanize.Sentence(k.Fixed)
	case !d.MayEdit:
		words = "Your role in " + l.space.Team.Name + " cannot edit this. " + page.WhomToAsk(l.space)
	case isApp(k) && d.Paused && !d.Resource.Leaving:
		words = "Resume it before you restart or scale it."
	}
	if !d.MayDelete {
		words = humanize.Join(words, "Your role in "+l.space.Team.Name+" cannot delete this. "+page.WhomToAsk(l.space))
	}
	return words
}

// rightsOfDetail returns the rights that the page of an object checks.
func (p *Pages) rightsOfDetail(l objectRequest) []rights.Right {
	k, ns := l.ref.Kind, l.space.Namespace
	out := []rights.Right{rights.ListEvents.In(activity.Namespace(ns))}
	for _, verb := range []string{"get", "patch", "update", "create", "delete"} {
		out = append(out, rights.To(verb, k, ns))
	}
	if isApp(k) {
		out = append(out, rights.ListPods.In(ns), rights.GetLogs.In(ns), rights.GetUsage.In(ns))
	}
	for _, other := range p.Cluster.Kinds.Now() {
		if refers(other, k) {
			out = append(out, rights.To("list", other, ns))
		}
	}
	return out
}

// refers reports whether objects of kind a can refer to objects of kind b.
func refers(a, b catalog.Kind) bool {
	return slices.ContainsFunc(a.Refers, func(r catalog.Reference) bool { return slices.Contains(r.Kinds, b.ID()) })
}
