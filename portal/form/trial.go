package form

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
)

// Rounds is how often one review asks the cluster at most. The API server does not check the rules of a kind while
// something is missing or of a wrong type, and the portal reads what it sends: so what is known to be wrong is replaced
// by something that passes, and the cluster asked again, until all is known.
const Rounds = 3

// trial is a draft while it is found out what is wrong with it.
type trial struct {
	kind   catalog.Kind
	object *unstructured.Unstructured
	errs   catalog.FieldErrors
	blind  []string // paths at which there is not what the user wrote
}

// begin returns a trial of the draft's object, with some name where there is none.
func (d Draft) begin() trial {
	t := trial{kind: d.kind, object: d.Object.DeepCopy(), errs: slices.Clone(d.Unread)}
	for _, e := range d.Unread {
		t.blind = append(t.blind, e.Field)
	}
	if d.Object.GetName() == "" {
		t.object.SetName("new")
	}
	if t.object.Object["spec"] == nil { // so that what is missing in it is told, not that it is
		t.object.Object["spec"] = map[string]any{}
	}
	return t
}

// Unreadable reports whether the draft could not be read at all, so that the cluster has nothing to judge.
func (d Draft) Unreadable() bool {
	return slices.ContainsFunc(d.Unread, func(e catalog.FieldError) bool {
		return e.Field == "" || e.Field == "metadata.namespace" || e.Field == NameField && d.Object.GetName() != ""
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

// Examine finds all that is wrong with the draft. send asks the cluster what it would make of an object; its last
// answer holds if nothing is wrong. An error is send's own, and about none of the draft's fields.
func (d Draft) Examine(send func(*unstructured.Unstructured) error) (catalog.FieldErrors, error) {
	t := d.begin()
	for range Rounds {
		err := send(t.object)
		found := d.Locate(err)
		if len(t.errs) == 0 && (err == nil || len(found) == 0) {
			return nil, err
		}
		t.add(found)
		if !t.mend(found) {
			break
		}
	}
	return t.errs, nil
}

// Locate returns what the API server says of the fields of the draft's object, at the inputs for it.
func (d Draft) Locate(err error) catalog.FieldErrors {
	return d.kind.Locate(catalog.FromStatus(err))
}

// Taken returns the complaint about a name that another object has.
func (d Draft) Taken() catalog.FieldError {
	return catalog.FieldError{
		Field: NameField, Value: d.Object.GetName(),
		Message: "is taken: " + d.Team.Name + " has a " + d.kind.Noun() + " of this name; choose another one",
	}
}
