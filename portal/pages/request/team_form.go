package request

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// teamRequest returns the request for a new Team. Teams are not requestable: the form is for platform admins.
func (p *Pages) teamRequest(r *http.Request) (formRequest, error) {
	id, err := page.Caller(r)
	if err != nil {
		return formRequest{}, err
	}
	f := formRequest{id: id, space: p.SpaceNamed(page.PlatformTeam), people: p.Names, kinds: p.Cluster.Kinds.Now()}
	var ok bool
	if f.kind, ok = p.Cluster.Kinds.Now().ByName(page.TeamKind); !ok {
		return f, page.ErrNoPage
	}
	return f, p.Cluster.Rights.Require(r.Context(), id, "create", f.ref(""))
}

// teamForm shows the form of a new Team.
func (p *Pages) teamForm(w http.ResponseWriter, r *http.Request) error {
	f, err := p.teamRequest(r)
	if err != nil {
		return err
	}
	offers, err := p.offers(r.Context(), f)
	if err != nil {
		return err
	}
	return p.showFormWith(w, r, f, form.Fresh(f.kind, r.URL.Query(), f.facts(), offers), offers, http.StatusOK)
}

// teamPost handles the pressed button of the form.
func (p *Pages) teamPost(w http.ResponseWriter, r *http.Request) error {
	f, err := p.teamRequest(r)
	if err != nil {
		return err
	}
	if err := page.ReadForm(w, r); err != nil {
		return err
	}
	return p.answer(w, r, f)
}

// teamFormPage returns the view of the form without the draft.
func teamFormPage(frame views.Frame, f formRequest) views.Form {
	view := views.NewTeamForm(frame, f.kind.Title)
	if f.edit != nil {
		view = views.EditTeamForm(frame, f.kind.Title, f.kind.Plural, f.edit.Name)
	}
	view.Icon, view.Frame.Section, view.Frame.Team = f.kind.Icon, views.AdminSection, views.Team{}
	return view
}

// regions returns the regions that each AWS account allows, for accounts that the caller can list.
func (p *Pages) regions(ctx context.Context, id auth.Identity) (map[string][]string, error) {
	k, ok := p.Cluster.Kinds.Now().ByName(page.ProviderKind)
	if !ok {
		return nil, nil
	}
	list, err := p.Cluster.Objects.List(ctx, id, k, "")
	if page.Unseen(err) {
		return nil, nil
	}
	all := map[string][]string{}
	for _, o := range list {
		allowed, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "allowedRegions")
		if region := catalog.TextAt(o, "spec", "region"); !slices.Contains(allowed, region) {
			allowed = append([]string{region}, allowed...)
		}
		all[o.GetName()] = allowed
	}
	return all, err
}

// judgedTeam returns what no validation of a Team finds: regions that an account does not allow, and namespaces of
// others.
func (p *Pages) judgedTeam(ctx context.Context, f formRequest, obj *unstructured.Unstructured) (
	catalog.FieldErrors, []string, error,
) {
	t := &v1alpha1.Team{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, t); err != nil {
		return nil, nil, nil //nolint:nilerr // the cluster says what is wrong with it
	}
	allowed, err := p.regions(ctx, f.id)
	if err != nil {
		return nil, nil, err
	}
	var wrong catalog.FieldErrors
	for i, account := range t.Spec.Providers {
		regions, known := allowed[account.Name]
		for _, region := range account.Regions {
			if known && !slices.Contains(regions, region) {
				wrong = append(wrong, catalog.FieldError{
					Field: catalog.Index("spec.providers", i) + ".regions", Value: region,
					Message: fmt.Sprintf("%s is no region of %s: it allows %s", region, account.Name,
						strings.Join(regions, ", ")),
				})
			}
		}
	}
	warnings, err := p.takenNamespaces(ctx, f, t)
	return wrong, warnings, err
}

// takenNamespaces returns warnings about namespaces that exist and were not given to the team.
func (p *Pages) takenNamespaces(ctx context.Context, f formRequest, t *v1alpha1.Team) ([]string, error) {
	var warnings []string
	for _, namespace := range t.NamespaceNames() {
		free, err := p.Cluster.Teams.FreeNamespace(ctx, f.id, t.Name, namespace)
		if err != nil {
			return nil, err
		}
		if !free && f.edit == nil {
			warnings = append(warnings,
				fmt.Sprintf("The namespace %s exists, and was not given to this team: it lacks the label %s=%s. "+
					"The team gets it when a cluster admin sets the label; choose another name if it is not meant.",
					namespace, v1alpha1.LabelTeam, t.Name))
		}
	}
	return warnings, nil
}

// joined joins the words that are not empty with commas.
func joined(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}
