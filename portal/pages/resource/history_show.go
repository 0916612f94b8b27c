package resource

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// history returns the object's versions and who changed them; mayEdit adds links to roll back.
func (p *Pages) history(ctx context.Context, l objectRequest, obj *unstructured.Unstructured, mayEdit bool) (
	views.History, error,
) {
	all, err := p.Cluster.Operator.History(ctx, l.id, l.ref, obj)
	h := views.History{Kept: v1alpha1.HistoryLimit}
	if err != nil || len(all) == 0 {
		return h, err
	}
	h.Before = before(all)
	generation := changes(obj) + 1 // without the one of its deletion
	if missing := generation - all[0].Generation; missing > 0 {
		h.Pending = "The latest change is not recorded yet."
		if missing > 1 {
			h.Pending = fmt.Sprintf("The latest %d changes are not recorded yet.", missing)
		}
		if seen, _, _ := unstructured.NestedInt64(obj.Object, "status", "recordedGeneration"); seen >= generation {
			h.Pending = "The latest change is not recorded: its settings are too large."
		}
	}
	never := neverServed(l.ref.Kind, obj)
	for i, v := range all {
		var older *cluster.Version
		if i+1 < len(all) {
			older = &all[i+1]
		}
		one := p.version(l, v, older)
		one.Now = v.Generation == generation
		image, _ := v.Spec["image"].(string)
		switch {
		case one.Now:
		case never(image):
			one.Note = strings.TrimSpace(one.Note + " It never served: none of its replicas became available.")
		case mayEdit:
			one.Back = views.BackPath(views.ResourcePath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name), v.Generation)
		}
		h.Versions = append(h.Versions, one)
	}
	return h, nil
}

// neverServed returns a function that reports whether a web app never served with an image, other than the one that it
// is to have now: there is nothing to go back to.
func neverServed(k catalog.Kind, obj *unstructured.Unstructured) func(image string) bool {
	app := &v1alpha1.WebApp{}
	if k.ID() == v1alpha1.KindWebApp {
		if known, err := appOf(obj); err == nil { // its page says what is wrong with it
			app = known
		}
	}
	return func(image string) bool { return image != app.Spec.Image && app.Status.NeverServed(image) }
}

// before returns why there is nothing before the oldest version.
func before(all []cluster.Version) string {
	missing := all[len(all)-1].Generation - 1
	switch {
	case missing == 0:
		return ""
	case len(all) >= v1alpha1.HistoryLimit:
		return fmt.Sprintf("Portico keeps the last %d versions. Older ones are gone.", v1alpha1.HistoryLimit)
	}
	return countChanges(missing) + " before this one " + wasOrWere(missing) + " not recorded."
}

func countChanges(n int64) string {
	if n == 1 {
		return "1 change"
	}
	return strconv.FormatInt(n, 10) + " changes"
}

func wasOrWere(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// version returns the view of one version, and what it changed; older is nil if the previous one is unknown.
func (p *Pages) version(l objectRequest, v cluster.Version, older *cluster.Version) views.PastVersion {
	out := views.PastVersion{Title: "Changed by " + p.author(v), Way: wayOf(v.With), Icon: "info", At: p.Moment(v.At)}
	if v.Generation == 1 {
		out.Title = "Requested by " + p.author(v)
	}
	if older == nil {
		return out
	}
	out.Changes = form.Changes(l.ref.Kind, older.Spec, v.Spec)
	switch missed := v.Generation - older.Generation - 1; {
	case missed > 0:
		out.Note = countChanges(missed) + " before this one " + wasOrWere(missed) +
			" not recorded, so what they changed is listed here too."
	case len(out.Changes) == 0:
		out.Note = "Nothing that you can set is different."
	}
	return out
}

// author returns who changed a version.
func (p *Pages) author(v cluster.Version) string {
	switch {
	case v.By == "":
		return "an unknown user"
	case strings.HasPrefix(v.By, "system:serviceaccount:") && strings.HasSuffix(v.By, ":portico-operator"):
		return "Portico"
	}
	return page.InRun(p.Called(v.By), v.Run)
}

// ways are texts for field managers, by prefix; the first match applies.
var ways = []struct{ manager, words string }{
	{v1alpha1.ManagerPortal, "through the portal"},
	{v1alpha1.ManagerAPI, "over the REST API"},
	{v1alpha1.ManagerCLI, "with the portico command"},
	{v1alpha1.ManagerRollback, "by a rollback"},
	{"portico", ""},
	{"kubectl", "with kubectl"},
	{"argocd", "by Argo CD"},
	{"kustomize-controller", "by Flux"},
	{"helm-controller", "by Flux"},
	{"helm", "with Helm"},
	{"terraform", "with Terraform"},
	{"Terraform", "with Terraform"},
}

// wayOf returns by which client a field manager changes objects; "" if unknown.
func wayOf(manager string) string {
	if manager == "" {
		return ""
	}
	for _, w := range ways {
		if strings.HasPrefix(manager, w.manager) {
			return humanize.Sentence(w.words)
		}
	}
	return "With " + manager + "."
}
