package resource

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// readApp returns the application of a changing request, for callers who can change it.
func (p *Pages) readApp(w http.ResponseWriter, r *http.Request) (objectRequest, *unstructured.Unstructured, error) {
	l, err := p.readRequest(r)
	if err != nil {
		return l, nil, err
	}
	if !isApp(l.ref.Kind) {
		return l, nil, page.ErrNoPage
	}
	if err := p.Cluster.Rights.Require(r.Context(), l.id, "patch", l.ref); err != nil {
		return l, nil, err
	}
	if err := page.ReadForm(w, r); err != nil {
		return l, nil, err
	}
	obj, err := p.Cluster.Objects.Get(r.Context(), l.id, l.ref)
	return l, obj, err
}

// restartAsk shows the confirmation before all Pods are replaced; act does it.
func (p *Pages) restartAsk(w http.ResponseWriter, r *http.Request) error {
	l, obj, err := p.readApp(w, r)
	if err != nil {
		return err
	}
	if l.frame, err = p.Frame(r, l.id, l.space, "Restart "+l.ref.Name, l.ref.Kind.Title); err != nil {
		return err
	}
	l.frame.Section, l.frame.Slim = views.Resources, true
	view := views.Restart{Frame: l.frame, Resource: page.ResourceOf(l.space, l.ref.Kind, obj, p.Now())}
	return p.Show(w, r, http.StatusOK, views.RestartPage(view))
}

// scale sets the number of Pods. An invalid number is shown with its error.
func (p *Pages) scale(w http.ResponseWriter, r *http.Request) error {
	l, obj, err := p.readApp(w, r)
	if err != nil {
		return err
	}
	value := strings.TrimSpace(r.PostForm.Get("replicas"))
	wrong, err := p.scaleTo(r, l, obj, value)
	if err != nil {
		return err
	}
	if wrong == "" {
		return page.SeeOther(w, r, views.ResourcePath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name))
	}
	return p.showAgain(w, r, l, obj, func(a *views.App) {
		a.Size.Value = value
		if a.Size.Error = wrong; a.Size.Locked != "" { // the reason is already shown
			a.Size.Error = ""
		}
	})
}

// scaleTo returns what is wrong with the value, if that is the error.
func (p *Pages) scaleTo(r *http.Request, l objectRequest, obj *unstructured.Unstructured, value string) (
	wrong string, err error,
) {
	app, err := appOf(obj)
	if err != nil {
		return "", err
	}
	size := sizeOf(app, l.ref.Kind)
	if size.Locked != "" {
		return size.Locked, nil
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return fmt.Sprintf("Write a whole number from %d to %d.", size.Min, size.Max), nil //nolint:nilerr // that is the answer
	}
	_, err = p.Cluster.Write.Scale(r.Context(), l.id, l.ref, n)
	return refusal(l.ref.Kind, err, "spec.replicas")
}

// rollback requests the image of an earlier version from the operator.
func (p *Pages) rollback(w http.ResponseWriter, r *http.Request) error {
	l, obj, err := p.readApp(w, r)
	if err != nil {
		return err
	}
	app, err := appOf(obj)
	if err != nil {
		return err
	}
	asked := r.PostForm.Get("revision")
	i := slices.IndexFunc(app.Status.Revisions, func(v v1alpha1.WebAppRevision) bool {
		return strconv.FormatInt(v.Revision, 10) == asked
	})
	wrong := ""
	switch {
	case i < 0:
		wrong = "The cluster does not keep this version any more: nothing was changed. Edit the image to go back to it."
	case app.Status.Revisions[i].Image == app.Spec.Image:
		wrong = "This version is already the one you requested. Nothing was changed."
	case app.Status.NeverServed(app.Status.Revisions[i].Image):
		wrong = "This version never served: none of its replicas became available. Nothing was changed. Edit the " +
			"image to try it again."
	default:
		_, err = p.Cluster.Write.Annotate(r.Context(), l.id, l.ref,
			map[string]*string{v1alpha1.AnnotationRollback: &asked})
		if wrong, err = refusal(l.ref.Kind, err, ""); err != nil {
			return err
		}
	}
	if wrong == "" {
		return page.SeeOther(w, r, views.ResourcePath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name))
	}
	return p.showAgain(w, r, l, obj, func(a *views.App) { a.VersionsError = wrong })
}

// refusal returns, for the user, the API server's or a policy's message against a change. Messages about field lose its
// name, because they are shown beside it. Other errors are returned as they are.
func refusal(k catalog.Kind, err error, field string) (words string, other error) {
	if err == nil {
		return "", nil
	}
	if _, ok := errors.AsType[*failure.ForbiddenError](err); ok || !apierrors.IsForbidden(err) && !apierrors.IsInvalid(
		err) {
		return "", err
	}
	var all []string
	for _, e := range catalog.FromStatus(k, err) {
		if e.Field != field {
			e.Message = humanize.Join(e.Field, e.Message)
		}
		all = append(all, humanize.Sentence(e.Message))
	}
	if len(all) == 0 {
		return humanize.Sentence(page.AdmissionWords(err)), nil
	}
	return strings.Join(all, " "), nil
}

// backToDetail redirects from the URL of an action to the object, so that reloading it or returning to it does nothing.
func (p *Pages) backToDetail(w http.ResponseWriter, r *http.Request) error {
	s := p.SpaceOf(r)
	ref, err := s.RefOf(r)
	if err != nil {
		return err
	}
	return page.SeeOther(w, r, views.ResourcePath(s.Team.ID, ref.Kind.Plural, ref.Name))
}

// showAgain shows the page of the object with the refused input.
func (p *Pages) showAgain(w http.ResponseWriter, r *http.Request, l objectRequest, obj *unstructured.Unstructured,
	say func(*views.App),
) error {
	var err error
	if l.frame, err = p.Frame(r, l.id, l.space, l.ref.Name, views.TabTitle(l.tab), l.ref.Kind.Title); err != nil {
		return err
	}
	l.frame.Section = views.Resources
	view, err := p.detailOf(r.Context(), l, obj)
	if err != nil {
		return err
	}
	say(view.App)
	return p.Show(w, r, http.StatusUnprocessableEntity, views.DetailPage(view))
}
