package pages

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

// rounds is how often one review asks the cluster at most. The API server does not check the rules of a kind while
// something is missing or of a wrong type, and the portal reads what it sends: so what is known to be wrong is replaced by
// something that passes, and the cluster asked again, until all is known.
const rounds = 3

// trial is a draft while it is found out what is wrong with it.
type trial struct {
	kind   catalog.Kind
	object *unstructured.Unstructured
	errs   catalog.FieldErrors
	blind  []string // paths at which there is not what the user wrote
}

// begin is the draft's object, with some name where there is none.
func (d draft) begin() trial {
	t := trial{kind: d.asking.kind, object: d.object.DeepCopy(), errs: slices.Clone(d.unread)}
	for _, e := range d.unread {
		t.blind = append(t.blind, e.Field)
	}
	if d.object.GetName() == "" {
		t.object.SetName("new")
	}
	if t.object.Object["spec"] == nil { // so that what is missing in it is told, not that it is
		t.object.Object["spec"] = map[string]any{}
	}
	return t
}

// unreadable reports whether the draft could not be read at all, so that the cluster has nothing to judge.
func (d draft) unreadable() bool {
	return slices.ContainsFunc(d.unread, func(e catalog.FieldError) bool {
		return e.Field == "" || e.Field == "metadata.namespace" || e.Field == nameField && d.object.GetName() != ""
	})
}

// add notes what the cluster complains about, as far as it is about what the user wrote.
func (t *trial) add(found catalog.FieldErrors) {
	for _, e := range found {
		from := func(path string) bool { return t.kind.DueTo(e, path) }
		if e.Message != catalog.Unchecked && !slices.ContainsFunc(t.blind, from) && !slices.Contains(t.errs, e) {
			t.errs = append(t.errs, e)
		}
	}
}

// mend puts something that passes in the place of what is wrong, and reports whether the cluster would get any further.
func (t *trial) mend(found catalog.FieldErrors) bool {
	more := slices.ContainsFunc(found, func(e catalog.FieldError) bool { return e.Message == catalog.Unchecked })
	for _, e := range found {
		if e.Message != catalog.Unchecked && t.kind.Fill(t.object, e.Field) {
			t.blind = append(t.blind, e.Field)
		}
	}
	return more
}

// examine asks the cluster what it would make of the draft, and finds all that is wrong with it. Without anything wrong
// there is a result; an error is none of the draft's fields.
func (p *Pages) examine(ctx context.Context, a asking, d draft) (cluster.Result, catalog.FieldErrors, error) {
	t, sent := d.begin(), d
	for range rounds {
		sent.object = t.object
		result, err := p.send(ctx, a, sent, true)
		found := a.kind.Locate(catalog.FromStatus(err))
		switch {
		case err == nil && len(t.errs) == 0:
			return result, nil, nil
		case len(found) == 0 && len(t.errs) == 0:
			return result, nil, err
		}
		t.add(found)
		if !t.mend(found) {
			break
		}
	}
	return cluster.Result{}, t.errs, p.addKnown(ctx, a, d, &t)
}

// addKnown adds what no validation tells: a name that is taken, and a hostname that can never be had.
func (p *Pages) addKnown(ctx context.Context, a asking, d draft, t *trial) error {
	if a.edit == nil && d.object.GetName() != "" && !t.about(nameField) {
		_, err := p.cluster.Get(ctx, a.id, cluster.Ref{Kind: a.kind, Namespace: a.space.namespace, Name: d.object.GetName()})
		switch {
		case err == nil:
			t.errs = append(t.errs, a.taken(d))
		case !unseen(err) && !apierrors.IsNotFound(err):
			return err
		}
	}
	if t.about(hostnameField) {
		return nil
	}
	wrong, _, err := p.judged(ctx, a, d.object)
	t.errs = append(t.errs, wrong...)
	return err
}

func (t *trial) about(field string) bool {
	return slices.ContainsFunc(t.errs, func(e catalog.FieldError) bool { return e.Field == field })
}

// taken is the complaint about a name that another object has.
func (a asking) taken(d draft) catalog.FieldError {
	return catalog.FieldError{
		Field: nameField, Value: d.object.GetName(),
		Message: "is taken: " + a.space.team.Name + " has a " + strings.ToLower(a.kind.Title) + " of this name; choose another one",
	}
}
