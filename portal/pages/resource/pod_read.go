package resource

import (
	"context"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// podRequest is a request about one Pod of an application.
type podRequest struct {
	objectRequest
	app  *unstructured.Unstructured
	pod  *corev1.Pod
	view views.Pod
}

// readPod returns the Pod among the application's, for callers who can see the application.
func (p *Pages) readPod(r *http.Request) (podRequest, error) {
	l, err := p.readRequest(r)
	if err != nil {
		return podRequest{}, err
	}
	if !isApp(l.ref.Kind) {
		return podRequest{}, page.ErrNoPage
	}
	return p.findPod(r.Context(), l, chi.URLParam(r, "pod"))
}

func (p *Pages) findPod(ctx context.Context, l objectRequest, name string) (podRequest, error) {
	at := podRequest{objectRequest: l}
	var err error
	if at.app, err = p.Cluster.Objects.Get(ctx, l.id, l.ref); err != nil {
		return at, err
	}
	pods, err := p.Cluster.Pods.List(ctx, l.id, at.app)
	if err != nil {
		return at, err
	}
	i := slices.IndexFunc(pods, func(pod *corev1.Pod) bool { return pod.Name == name })
	if i < 0 {
		return at, page.ErrNoPod
	}
	at.pod = pods[i]
	at.view = p.podOf(l, at.pod, catalog.TextAt(at.app, "spec", "image"))
	return at, nil
}
