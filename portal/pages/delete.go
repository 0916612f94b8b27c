package pages

import (
	"cmp"
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// deleteAsk is the page that asks before deleting.
func (p *Pages) deleteAsk(w http.ResponseWriter, r *http.Request) error {
	l, obj, err := p.deleting(r)
	if err != nil {
		return err
	}
	view, err := p.deleteView(r.Context(), l, obj)
	if err != nil {
		return err
	}
	return p.show(w, r, http.StatusOK, views.DeletePage(view))
}

// deleting reads the object, for callers who may delete it.
func (p *Pages) deleting(r *http.Request) (looking, *unstructured.Unstructured, error) {
	l, err := p.looking(r)
	if err != nil {
		return l, nil, err
	}
	may, err := p.cluster.Can(r.Context(), l.id, "delete", l.ref.Kind, l.space.namespace)
	if err == nil && !may {
		err = &cluster.ForbiddenError{Verb: "delete", Resource: l.ref.Kind.Plural, Namespace: l.space.namespace}
	}
	if err != nil {
		return l, nil, err
	}
	obj, err := p.cluster.Get(r.Context(), l.id, l.ref)
	if err != nil {
		return l, nil, err
	}
	l.frame, err = p.frame(r, l.id, l.space, "Delete "+l.ref.Name)
	l.frame.Section, l.frame.Slim = views.Resources, true
	return l, obj, err
}

func (p *Pages) deleteView(ctx context.Context, l looking, obj *unstructured.Unstructured) (views.Delete, error) {
	users, err := p.users(ctx, l)
	return views.Delete{
		Frame: l.frame, Resource: resourceOf(l.space, l.ref.Kind, obj, p.now()), UID: string(obj.GetUID()),
		Users: users, Effects: effects(obj, l.ref.Kind),
	}, err
}

// deletePost deletes the object that the page showed, if its name was typed.
func (p *Pages) deletePost(w http.ResponseWriter, r *http.Request) error {
	l, obj, err := p.deleting(r)
	if err != nil {
		return err
	}
	if err := readForm(w, r); err != nil {
		return err
	}
	view, err := p.deleteView(r.Context(), l, obj)
	if err != nil {
		return err
	}
	view.Typed = r.PostForm.Get("name")
	uid := r.PostForm.Get("uid")
	switch {
	case uid != view.UID:
		view.Typed = ""
		view.Problem = "This is another object of the same name: it was made anew in the meantime. Look at it again before you delete it."
		return p.show(w, r, http.StatusConflict, views.DeletePage(view))
	case view.Typed != l.ref.Name:
		view.Error = "Type the name exactly as it stands here: " + l.ref.Name + "."
		return p.show(w, r, http.StatusUnprocessableEntity, views.DeletePage(view))
	}
	_, err = p.cluster.Delete(r.Context(), l.id, l.ref, cluster.Seen{UID: types.UID(uid)}, false)
	switch {
	case err == nil || apierrors.IsNotFound(err):
		return seeOther(w, r, views.TeamPath(l.space.team.ID))
	case apierrors.IsConflict(err):
		view.Problem = "It was replaced by another object of the same name in the meantime."
		return p.show(w, r, http.StatusConflict, views.DeletePage(view))
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err): // a policy's words
		view.Problem = prose.Sentence(admissionWords(err))
		return p.show(w, r, http.StatusUnprocessableEntity, views.DeletePage(view))
	}
	return err
}

// effects say what deleting does to the resource in AWS and to its data.
func effects(obj *unstructured.Unstructured, k catalog.Kind) []views.Effect {
	return append(outcomes(obj, k), views.Effect{Icon: "info", Tone: "idle", Text: "The object disappears from Portico and from the cluster when this is done."})
}

// outcomes say what becomes of the resource in AWS, and of what was made for it.
func outcomes(obj *unstructured.Unstructured, k catalog.Kind) []views.Effect {
	target := targetOf(obj, k)
	list := policyEffects(obj, k.Deletion, target)
	if phase.FactsOf(obj).Lost() {
		list = []views.Effect{{Icon: "info", Tone: "idle", Text: target + " is gone from AWS already: it was deleted outside Portico."}}
	}
	if !k.Has("deletionPolicy") && k.Deletion.Effect != "" {
		list = []views.Effect{{Icon: "bin", Tone: "bad", Text: k.Deletion.Effect}}
	}
	if observed(obj) {
		list = []views.Effect{{Icon: "check", Tone: "good", Text: "Nothing changes in AWS: Portico only observes " + target + "."}}
	}
	if secret := nested(obj, "status", "binding", "name"); secret != "" {
		list = append(list, views.Effect{
			Icon: "alert", Tone: "warn",
			Text: "The Secret " + secret + " with the connection details goes too: applications that use it stop working when they restart.",
		})
	}
	return list
}

// targetOf is what the object stands for in AWS.
func targetOf(obj *unstructured.Unstructured, k catalog.Kind) string {
	return cmp.Or(nested(obj, "status", "arn"), "what was created in AWS for this "+k.Title)
}

func observed(obj *unstructured.Unstructured) bool {
	return nested(obj, "spec", "managementPolicy") == string(v1alpha1.ManagementObserve)
}

func policyEffects(obj *unstructured.Unstructured, d catalog.Deletion, target string) []views.Effect {
	switch v1alpha1.DeletionPolicy(nested(obj, "spec", "deletionPolicy")) {
	case v1alpha1.DeletionRetain:
		return []views.Effect{{Icon: "check", Tone: "good", Text: target + " and its data stay. The same request can take it back later."}}
	case v1alpha1.DeletionOrphan:
		return []views.Effect{{Icon: "check", Tone: "good", Text: target + " and its data stay, without Portico's tags: nobody looks after it any more."}}
	case v1alpha1.DeletionStop:
		return []views.Effect{{Icon: "check", Tone: "good", Text: target + " is stopped and stays, with its data. The same request can take it back later."}}
	case v1alpha1.DeletionDelete:
		if on, set := setting(obj, d.Protects); on && set {
			return []views.Effect{{Icon: "lock", Tone: "warn", Text: "Nothing is deleted while " + d.Protects + " is on: AWS refuses it. The deletion waits until you switch that off."}}
		}
		gone := views.Effect{Icon: "bin", Tone: "bad", Text: "Deleted from AWS for good: " + target + "."}
		if lossy(obj, d) {
			return []views.Effect{gone, {Icon: "alert", Tone: "bad", Text: d.LossyEffect}}
		}
		return []views.Effect{gone, {Icon: "check", Tone: "good", Text: d.Effect}}
	}
	return nil
}

// setting is a boolean of spec, and whether it is set at all.
func setting(obj *unstructured.Unstructured, name string) (on, set bool) {
	on, set, _ = unstructured.NestedBool(obj.Object, "spec", name)
	return on, set
}
