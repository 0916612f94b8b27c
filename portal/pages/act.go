package pages

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/web/views"
)

// act sets the annotations behind the buttons of a resource's page: reconcile, pause, resume and restart. It sends nothing else,
// so that what others change at the same time stays.
func (p *Pages) act(w http.ResponseWriter, r *http.Request) error {
	l, err := p.looking(r)
	if err != nil {
		return err
	}
	now := p.now().UTC().Format(time.RFC3339Nano)
	var notes map[string]*string
	switch do := chi.URLParam(r, "action"); {
	case do == "reconcile":
		notes = map[string]*string{v1alpha1.AnnotationReconcileRequestedAt: &now}
	case do == "restart" && isApp(l.ref.Kind):
		notes = map[string]*string{v1alpha1.AnnotationRestartRequestedAt: &now}
	case do == "pause":
		notes = map[string]*string{v1alpha1.AnnotationPaused: new("true")}
	case do == "resume":
		notes = map[string]*string{v1alpha1.AnnotationPaused: nil}
	default:
		return errNoPage
	}
	if _, err := p.cluster.Annotate(r.Context(), l.id, l.ref, notes); err != nil {
		return err
	}
	return seeOther(w, r, views.ResourcePath(l.space.team.ID, l.ref.Kind.Plural, l.ref.Name))
}
