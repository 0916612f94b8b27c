package pages

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/web/views"
)

// act sets the annotations behind the buttons of a resource's page: reconcile, pause and resume. It sends nothing else,
// so that what others change at the same time stays.
func (p *Pages) act(w http.ResponseWriter, r *http.Request) error {
	l, err := p.looking(r)
	if err != nil {
		return err
	}
	var notes map[string]*string
	switch chi.URLParam(r, "action") {
	case "reconcile":
		notes = map[string]*string{v1alpha1.AnnotationReconcileRequestedAt: new(p.now().UTC().Format(time.RFC3339Nano))}
	case "pause":
		notes = map[string]*string{v1alpha1.AnnotationPaused: new("true")}
	case "resume":
		notes = map[string]*string{v1alpha1.AnnotationPaused: nil}
	default:
		return errNoPage
	}
	if _, err := p.cluster.Annotate(r.Context(), l.id, l.ref, notes); err != nil {
		return err
	}
	return seeOther(w, r, views.ResourcePath(l.space.team.ID, l.ref.Kind.Plural, l.ref.Name))
}
