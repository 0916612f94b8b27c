package pages

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/web/views"
)

// act sets the annotations behind the buttons of a resource's page: reconcile, pause and resume.
func (p *Pages) act(w http.ResponseWriter, r *http.Request) error {
	l, err := p.looking(r)
	if err != nil {
		return err
	}
	obj, err := p.cluster.Get(r.Context(), l.id, l.ref)
	if err != nil {
		return err
	}
	notes := obj.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	switch chi.URLParam(r, "action") {
	case "reconcile":
		notes[v1alpha1.AnnotationReconcileRequestedAt] = p.now().UTC().Format(time.RFC3339Nano)
	case "pause":
		notes[v1alpha1.AnnotationPaused] = "true"
	case "resume":
		delete(notes, v1alpha1.AnnotationPaused)
	default:
		return errNoPage
	}
	obj.SetAnnotations(notes)
	if _, err := p.cluster.Update(r.Context(), l.id, l.ref.Kind, obj, "", false); err != nil {
		return err
	}
	return seeOther(w, r, views.ResourcePath(l.space.team.ID, l.ref.Kind.Plural, l.ref.Name))
}
