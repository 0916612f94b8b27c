package team

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/pages/page"
)

// teamRequest is a request about one Team.
type teamRequest struct {
	id      auth.Identity
	ref     catalog.Ref
	applied int64 // generation of the caller's change that the cache does not have yet; 0 for none
}

// readRequest returns the Team named in the path. It does not check that it exists or that the caller can see it.
func (p *Pages) readRequest(r *http.Request) (teamRequest, error) {
	id, err := page.Caller(r)
	if err != nil {
		return teamRequest{}, err
	}
	k, ok := p.Cluster.Kinds.Now().ByName(page.TeamKind)
	if !ok {
		return teamRequest{}, page.ErrNoPage
	}
	ref, err := page.Ref(r, k, "")
	return teamRequest{id: id, ref: ref}, err
}

// decode converts obj into a Team.
func decode(obj *unstructured.Unstructured) (*v1alpha1.Team, error) {
	t := &v1alpha1.Team{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, t); err != nil {
		return nil, fmt.Errorf("reading team %s: %w", obj.GetName(), err)
	}
	return t, nil
}

// readPosted reads a posted form, and the Team that it is about from the API server: the cache can lag behind.
func (p *Pages) readPosted(w http.ResponseWriter, r *http.Request) (
	l teamRequest, obj *unstructured.Unstructured, t *v1alpha1.Team, err error,
) {
	if l, err = p.readRequest(r); err != nil {
		return l, nil, nil, err
	}
	if err = page.ReadForm(w, r); err != nil {
		return l, nil, nil, err
	}
	if obj, err = p.Cluster.Objects.Current(r.Context(), l.id, l.ref); err != nil {
		return l, nil, nil, err
	}
	t, err = decode(obj)
	return l, obj, t, err
}
