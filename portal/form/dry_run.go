package form

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
)

// Rounds bounds the dry runs of one review. The API server skips a kind's rules while a value is missing or has a wrong
// type, and the portal can only send what it could parse; so invalid values are replaced by valid ones and the dry run
// is repeated, until all errors are known.
const Rounds = 3

// trial is the state of finding a draft's errors.
type trial struct {
	kind   catalog.Kind
	object *unstructured.Unstructured
	errs   catalog.FieldErrors
	blind  []string // paths whose values are not the user's
}

// begin returns a trial of the draft's object, with a placeholder name if it has none.
func (d Draft) begin() trial {
	t := trial{kind: d.kind, object: d.Object.DeepCopy(), errs: slices.Clone(d.Unread)}
	for _, e := range d.Unread {
		t.blind = append(t.blind, e.Field)
	}
	if d.Object.GetName() == "" {
		t.object.SetName("new")
	}
	if t.object.Object["spec"] == nil { // so that the missing fields are reported, and not spec
		t.object.Object["spec"] = map[string]any{}
	}
	return t
}

// Unreadable reports whether the draft could not be parsed at all, so that no dry run is possible.
func (d Draft) Unreadable() bool {
	return slices.ContainsFunc(d.Unread, func(e catalog.FieldError) bool {
		return e.Field == "" || e.Field == "metadata.namespace" || e.Field == NameField && d.Object.GetName() != ""
	})
}

// add records the cluster's errors about values that the user entered.
func (t *trial) add(found catalog.FieldErrors) {
	for _, e := range found {
		from := func(path string) bool { return t.kind.DueTo(e, path) }
		if e.Message != catalog.Unchecked && !slices.ContainsFunc(t.blind, from) && !slices.Contains(t.errs, e) {
			t.errs = append(t.errs, e)
		}
	}
}

// mend replaces invalid values by valid ones, and reports whether another dry run could find more.
func (t *trial) mend(found catalog.FieldErrors) bool {
	more := slices.ContainsFunc(found, func(e catalog.FieldError) bool { return e.Message == catalog.Unchecked })
	for _, e := range found {
		if e.Message != catalog.Unchecked && t.kind.Fill(t.object, e.Field) {
			t.blind = append(t.blind, e.Field)
		}
	}
	return more
}

// Examine returns all errors of the draft. send is a dry run of an object; its last result is valid if there are no
// errors. The returned error is send's own, and about none of the draft's fields.
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

// Locate returns the API server's errors about the draft's object, at its inputs.
func (d Draft) Locate(err error) catalog.FieldErrors {
	return d.kind.Locate(catalog.FromStatus(d.kind, err))
}

// Taken returns the error about a name that another object has.
func (d Draft) Taken() catalog.FieldError {
	return catalog.FieldError{
		Field: NameField, Value: d.Object.GetName(),
		Message: "is taken: " + d.Team.Name + " has a " + d.kind.Noun() + " of this name; choose another one",
	}
}
