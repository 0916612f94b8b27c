package form

import (
	"net/url"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// Conflict is three versions of an object that two users edit: the base of the user's edit, the other user's result,
// and the user's own.
type Conflict struct {
	kind                catalog.Kind
	began, theirs, mine *unstructured.Unstructured
}

// NewConflict returns the conflict between another user's change of an edited object and the user's own.
func NewConflict(kind catalog.Kind, edit Edit, theirs, mine *unstructured.Unstructured) Conflict {
	return Conflict{kind: kind, began: edit.Object, theirs: theirs, mine: mine}
}

// takes returns the name of the input that selects one of two values at a JSON pointer.
func takes(pointer string) string { return "take " + pointer }

func validTake(s string) bool { return s == views.TakeTheirs || s == views.TakeMine }

// View fills in the three versions. chosen are the choices made so far, nil at first. It reports whether a required
// choice is missing.
func (c Conflict) View(view *views.Conflict, chosen url.Values) (undecided bool, err error) {
	for _, part := range []struct {
		into *string
		obj  *unstructured.Unstructured
	}{{&view.Form.Began, c.began}, {&view.Theirs, c.theirs}, {&view.Form.YAML, c.mine}} {
		text, err := catalog.ToYAML(part.obj)
		if err != nil {
			return false, err
		}
		*part.into = string(text)
	}
	for _, d := range c.kind.Differences(c.began, c.theirs, c.mine) {
		v := views.Versions{
			Input: takes(d.Pointer()), Label: labelOf(c.kind, d.Path),
			Began: valueText(d.Base), Theirs: valueText(d.Theirs), Mine: valueText(d.Mine),
		}
		switch {
		case d.Overlaps():
			v.Taken = chosen.Get(v.Input)
			if chosen != nil && !validTake(v.Taken) {
				v.Error, undecided = "Choose one of the two.", true
			}
			view.Both = append(view.Both, v)
		case d.ChangedByThem():
			view.OnlyThem = append(view.OnlyThem, v)
		default:
			view.OnlyMe = append(view.OnlyMe, v)
		}
	}
	return undecided, nil
}

// Merge merges the three versions, with the choices.
func (c Conflict) Merge(chosen url.Values) (*unstructured.Unstructured, error) {
	return c.kind.Merge(c.began, c.theirs, c.mine, func(d catalog.Difference) any {
		if chosen.Get(takes(d.Pointer())) == views.TakeTheirs {
			return d.Theirs
		}
		return d.Mine
	})
}
