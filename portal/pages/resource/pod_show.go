package resource

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// podRequest is a request about one Pod of an application.
type podRequest struct {
	objectRequest
	app  *unstructured.Unstructured
	pod  *corev1.Pod
	view views.Pod
}

// readPod finds the Pod among those of the application, which the caller must be allowed to see.
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
	if at.app, err = p.cluster.Get(ctx, l.id, l.ref); err != nil {
		return at, err
	}
	pods, err := p.cluster.Pods(ctx, l.id, at.app)
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

// podPage shows the page of one Pod.
func (p *Pages) podPage(w http.ResponseWriter, r *http.Request) error {
	at, err := p.readPod(r)
	if err != nil {
		return err
	}
	if err := p.frameOf(r, &at); err != nil {
		return err
	}
	view, err := p.podDetail(r.Context(), at)
	if err != nil {
		return err
	}
	return p.Show(w, r, http.StatusOK, views.PodPage(view))
}

func (p *Pages) frameOf(r *http.Request, at *podRequest) error {
	var err error
	at.frame, err = p.Frame(r, at.id, at.space, at.pod.Name)
	at.frame.Section = views.Resources
	return err
}

// podDetail returns all that the page says of the Pod.
func (p *Pages) podDetail(ctx context.Context, at podRequest) (views.PodDetail, error) {
	d := views.PodDetail{Frame: at.frame, Pod: at.view, App: page.ResourceOf(at.space, at.ref.Kind, at.app, p.Now())}
	st := &at.pod.Status
	d.Containers = append(p.containers(at, at.pod.Spec.InitContainers, st.InitContainerStatuses),
		p.containers(at, at.pod.Spec.Containers, st.ContainerStatuses)...)
	for _, c := range st.Conditions {
		d.Conditions = append(d.Conditions, conditionStep(humanize.Words(string(c.Type)), status.Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
			Since: c.LastTransitionTime.UTC().Format(time.RFC3339),
		}, p.Now()))
	}
	d.Facts = slices.DeleteFunc([]views.Fact{
		{Label: "Version", Value: at.view.Version, Code: true, Note: age(at.view.Old)},
		{Label: "Image", Value: at.view.Image, Code: true},
		{Label: "Node", Value: at.view.Node},
		{Label: "Created", At: at.view.Created},
	}, func(f views.Fact) bool { return f.Value == "" && f.At.At.IsZero() })
	events, err := p.cluster.PodEvents(ctx, at.id, at.pod)
	if _, ok := errors.AsType[*cluster.ForbiddenError](err); ok {
		d.NoEvents = "You may not see events here: your role lacks the right to list them."
		return d, nil
	}
	if _, ok := errors.AsType[*cluster.UnavailableError](err); ok {
		d.NoEvents = "Kubernetes does not tell them just now. The rest of the page holds."
		return d, nil
	}
	d.NoEvents = "Nothing has happened lately. Kubernetes forgets events after about an hour."
	for _, e := range events {
		d.Events = append(d.Events, p.happening(e))
	}
	return d, err
}

func age(old bool) string {
	if old {
		return "not the one that is asked for"
	}
	return ""
}

// containers returns those of the spec, also before the node tells of them.
func (p *Pages) containers(at podRequest, spec []corev1.Container, statuses []corev1.ContainerStatus) []views.Container {
	out := make([]views.Container, 0, len(spec))
	for i := range spec {
		s := &corev1.ContainerStatus{}
		if n := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == spec[i].Name }); n >= 0 {
			s = &statuses[n]
		}
		c := views.Container{
			Name: spec[i].Name, Image: spec[i].Image, Look: containerLook(s), Restarts: int(s.RestartCount),
			Logs: at.view.Href + "/logs?container=" + spec[i].Name,
		}
		if t := lastEnd(s); t != nil {
			c.LastWords = t.Message
		}
		if t := s.LastTerminationState.Terminated; t != nil {
			c.Restarted = p.Moment(t.FinishedAt.Time)
		}
		out = append(out, c)
	}
	return out
}

// podLive streams the same page until the Pod is gone.
func (p *Pages) podLive(w http.ResponseWriter, r *http.Request) error {
	at, err := p.readPod(r)
	if err != nil {
		return err
	}
	find := func(ctx context.Context) (podRequest, error) { return p.findPod(ctx, at.objectRequest, at.pod.Name) }
	return p.Live(w, r, at.id, page.Live{
		Changed: page.Again(r.Context(), p.followObject(r.Context(), at.objectRequest)),
		Allowed: func(ctx context.Context) error {
			_, err := find(ctx)
			if goneError(err) {
				return nil // the next rendering says so
			}
			return err
		},
		Render: func(ctx context.Context) ([]sse.Part, error) {
			now, err := find(ctx)
			if goneError(err) {
				return podGone(ctx, at)
			}
			if err != nil {
				return nil, err
			}
			d, err := p.podDetail(ctx, now)
			if err != nil {
				return nil, err
			}
			return page.Parts(ctx, page.Replace("status", views.PodStatusPart(d)), page.Replace("body", views.PodBodyPart(d)))
		},
	})
}

func goneError(err error) bool { return errors.Is(err, page.ErrNoPod) || apierrors.IsNotFound(err) }

// podGone returns the last word about a Pod; what the page showed of it stays.
func podGone(ctx context.Context, at podRequest) ([]sse.Part, error) {
	d := views.PodDetail{Frame: at.frame, Gone: true, Pod: at.view}
	d.App.Name, d.App.Href = at.ref.Name, views.ResourcePath(at.space.Team.ID, at.ref.Kind.Plural, at.ref.Name)
	d.Pod.Look = views.Look{Word: "Gone", Icon: "check", Tone: "idle"}
	out, err := page.Parts(ctx, page.Replace("status", views.PodStatusPart(d)))
	if err != nil {
		return nil, err
	}
	return out, sse.ErrFinished
}

// followObject signals when the object, its events or its Pods change.
func (p *Pages) followObject(ctx context.Context, l objectRequest) <-chan struct{} {
	return p.Follow(ctx, func(c cluster.Change) bool {
		return c.Kind == l.ref.Kind.Plural && c.Namespace == l.ref.Namespace && c.Name == l.ref.Name
	})
}

// followRelated signals besides when an object of a kind changes that the object refers to: what is in its way is told
// beside it.
func (p *Pages) followRelated(ctx context.Context, l objectRequest) <-chan struct{} {
	plurals := map[string]bool{}
	for _, r := range l.ref.Kind.Refers {
		for _, name := range r.Kinds {
			if k, ok := p.cluster.Kinds().ByName(name); ok {
				plurals[k.Plural] = true
			}
		}
	}
	return p.Follow(ctx, func(c cluster.Change) bool {
		if c.Namespace != l.ref.Namespace {
			return false
		}
		own := c.Kind == l.ref.Kind.Plural && c.Name == l.ref.Name
		return own || plurals[c.Kind] && !c.Events && !c.Pods
	})
}
