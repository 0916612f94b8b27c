package resource

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// act sets the annotations of the buttons on a resource's page: reconcile, pause, resume, keep and restart. It sends
// nothing else, so that concurrent changes of others stay.
func (p *Pages) act(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readRequest(r)
	if err != nil {
		return err
	}
	now := p.Now().UTC().Format(time.RFC3339Nano)
	var notes map[string]*string
	switch do := chi.URLParam(r, "action"); {
	case do == "reconcile":
		notes = map[string]*string{v1alpha1.AnnotationReconcileRequestedAt: &now}
	case do == "restart" && isApp(l.ref.Kind):
		notes = map[string]*string{v1alpha1.AnnotationRestartRequestedAt: &now}
	case do == "acknowledge":
		number, err := p.acknowledged(w, r, l)
		if err != nil {
			return err
		}
		if number != "" { // otherwise it is no longer requested: the page shows the state
			notes = map[string]*string{v1alpha1.AnnotationAcknowledgeRecreate: &number}
		}
	case do == "pause":
		notes = map[string]*string{v1alpha1.AnnotationPaused: new("true")}
	case do == "keep" && l.ref.Kind.Has("deletionPolicy"):
		notes = map[string]*string{v1alpha1.AnnotationKeep: new("true")}
	case do == "resume":
		notes = map[string]*string{v1alpha1.AnnotationPaused: nil}
	default:
		return page.ErrNoPage
	}
	if len(notes) > 0 {
		if _, err := p.Cluster.Write.Annotate(r.Context(), l.id, l.ref, notes); err != nil {
			return err
		}
	}
	return page.SeeOther(w, r, views.ResourcePath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name))
}

// acknowledged returns the number that the posted form acknowledges, "" if the object waits for another one.
func (p *Pages) acknowledged(w http.ResponseWriter, r *http.Request, l objectRequest) (string, error) {
	if err := page.ReadForm(w, r); err != nil {
		return "", err
	}
	obj, err := p.Cluster.Objects.Get(r.Context(), l.id, l.ref)
	if err != nil {
		return "", err
	}
	if number := r.PostForm.Get("number"); number == recreateNumber(obj) {
		return number, nil
	}
	return "", nil
}

// recreateNumber returns the number whose acknowledgement lets the operator create a new, empty resource instead of a
// lost one; "" unless the object waits for that.
func recreateNumber(obj *unstructured.Unstructured) string {
	c := status.FactsOf(obj).Condition(v1alpha1.ConditionStalled)
	if !c.True() || !strings.Contains(c.Message, v1alpha1.AnnotationAcknowledgeRecreate+"=") {
		return ""
	}
	made, _, _ := unstructured.NestedInt64(obj.Object, "status", "recreations")
	return strconv.FormatInt(made+1, 10)
}
