package pages

import (
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/web/views"
)

// showConflict shows what somebody else changed while the draft was made, beside what the draft changes. Nothing of
// either is lost: what does not overlap is merged, and where both changed the same the user chooses.
func (p *Pages) showConflict(w http.ResponseWriter, r *http.Request, a asking, d draft, now *unstructured.Unstructured) error {
	if err := sized(now); err != nil {
		return p.showOutgrown(w, r, a, d, err)
	}
	view, err := a.conflict(d.object, cluster.Began{ETag: cluster.ETag(now), Object: now}, nil)
	if err != nil {
		return err
	}
	return p.show(w, r, http.StatusConflict, views.ConflictPage(view))
}

// takes is the name of the input that chooses between two values of the part at a JSON pointer.
func takes(pointer string) string { return "take " + pointer }

// conflict lays out the three versions. chosen are the choices made so far, nil before the first look.
func (a asking) conflict(mine *unstructured.Unstructured, theirs cluster.Began, chosen url.Values) (views.Conflict, error) {
	view := views.Conflict{Form: a.form, Name: a.edit.ref.Name, ETag: theirs.ETag}
	view.Form.Frame.Title = "Somebody else changed " + view.Name
	view.Anew = !cluster.SameObject(theirs.ETag, a.edit.began.ETag)
	for _, part := range []struct {
		into *string
		obj  *unstructured.Unstructured
	}{{&view.Form.Began, a.edit.began.Object}, {&view.Theirs, theirs.Object}, {&view.Form.YAML, mine}} {
		text, err := catalog.ToYAML(part.obj)
		if err != nil {
			return view, err
		}
		*part.into = string(text)
	}
	view.Form.ETag = a.edit.began.ETag
	for _, d := range a.kind.Differences(a.edit.began.Object, theirs.Object, mine) {
		v := views.Versions{
			Input: takes(d.Pointer()), Label: a.labelOf(d.Path),
			Began: valueText(d.Base), Theirs: valueText(d.Theirs), Mine: valueText(d.Mine),
		}
		switch {
		case d.Overlaps():
			v.Taken = chosen.Get(v.Input)
			if chosen != nil && !validTake(v.Taken) {
				v.Error = "Choose one of the two."
			}
			view.Both = append(view.Both, v)
		case d.ChangedByThem():
			view.OnlyThem = append(view.OnlyThem, v)
		default:
			view.OnlyMe = append(view.OnlyMe, v)
		}
	}
	return view, nil
}

func validTake(s string) bool { return s == views.TakeTheirs || s == views.TakeMine }

// merge takes the choices that the page of a conflict asked for, and goes on with the review of what comes of them. The
// draft begins anew from their version: whoever changes that one, too, is a conflict again.
func (p *Pages) merge(w http.ResponseWriter, r *http.Request, a asking) error {
	theirs, err := a.begun(r.PostForm.Get("now"), r.PostForm.Get("theirs"))
	if err != nil {
		return err
	}
	mine, err := a.begun(a.edit.began.ETag, r.PostForm.Get("yaml"))
	if err != nil {
		return err
	}
	view, err := a.conflict(mine.Object, theirs, r.PostForm)
	if err != nil {
		return err
	}
	for _, v := range view.Both {
		if v.Error != "" {
			return p.show(w, r, http.StatusUnprocessableEntity, views.ConflictPage(view))
		}
	}
	both, err := a.kind.Merge(a.edit.began.Object, theirs.Object, mine.Object, func(d catalog.Difference) any {
		if r.PostForm.Get(takes(d.Pointer())) == views.TakeTheirs {
			return d.Theirs
		}
		return d.Mine
	})
	if err != nil {
		return err
	}
	text, err := catalog.ToYAML(both)
	if err != nil {
		return err
	}
	a.edit.began = theirs
	return p.review(w, r, a, a.read(url.Values{"yaml": {string(text)}}).toForm())
}

// showGone says that the object was deleted while it was edited, and offers to ask for it anew.
func (p *Pages) showGone(w http.ResponseWriter, r *http.Request, a asking, d draft) error {
	again := d.object.DeepCopy()
	withoutOrders(again)
	text, err := catalog.ToYAML(again)
	if err != nil {
		return err
	}
	view := views.Vanished{Form: a.form, Name: a.edit.ref.Name, Anew: views.RequestPath(a.space.team.ID, a.kind.Plural)}
	view.Form.Frame.Title, view.Form.YAML = view.Name+" was deleted", string(text)
	if _, ok := a.space.kinds.ByPlural(a.kind.Plural); !ok {
		view.Anew = ""
	} else if may, err := p.cluster.Can(r.Context(), a.id, "create", a.kind, a.space.namespace); err != nil || !may {
		view.Anew = ""
		if err != nil {
			return err
		}
	}
	return p.show(w, r, http.StatusNotFound, views.VanishedPage(view))
}
