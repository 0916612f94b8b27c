package resource

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// podPage shows the page of one Pod.
func (p *Pages) podPage(w http.ResponseWriter, r *http.Request) error {
	at, err := p.readPod(r)
	if err != nil {
		return err
	}
	if err := p.frameOf(r, &at, at.pod.Name); err != nil {
		return err
	}
	view, err := p.podDetail(r.Context(), at)
	if err != nil {
		return err
	}
	return p.Show(w, r, http.StatusOK, views.PodPage(view))
}

// frameOf adds the frame of a page about the Pod, which title names.
func (p *Pages) frameOf(r *http.Request, at *podRequest, title string) error {
	var err error
	at.frame, err = p.Frame(r, at.id, at.space, title, "Pod of "+at.ref.Name)
	at.frame.Section = views.Resources
	return err
}

// podDetail returns the content of the Pod's page.
func (p *Pages) podDetail(ctx context.Context, at podRequest) (views.PodDetail, error) {
	d := views.PodDetail{Frame: at.frame, Pod: at.view, App: page.ResourceOf(at.space, at.ref.Kind, at.app, p.Now())}
	st := &at.pod.Status
	events, failed := p.Cluster.Pods.Events(ctx, at.id, at.pod)
	var kills podcause.Kills
	if failed == nil {
		kills = podcause.KillsIn(events, at.pod)
		d.Pod.Look = podLook(podcause.AsEvicted(at.pod, events), p.Now(), kills)
	}
	d.Containers = append(p.containers(at, true, kills), p.containers(at, false, kills)...)
	for _, c := range st.Conditions {
		d.Conditions = append(d.Conditions, stepOf(status.StepOf(humanize.Words(string(c.Type)), status.Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
			Since: c.LastTransitionTime.UTC().Format(time.RFC3339),
		}), p.Now()))
	}
	d.Facts = slices.DeleteFunc([]views.Fact{
		{Label: "Version", Value: at.view.Version, Code: true, Note: age(at.view.Old)},
		{Label: "Image", Value: at.view.Image, Code: true},
		{Label: "Node", Value: at.view.Node},
		{Label: "Created", At: at.view.Created},
	}, func(f views.Fact) bool { return f.Value == "" && f.At.At.IsZero() })
	if _, ok := errors.AsType[*failure.UnavailableError](failed); ok {
		d.NoEvents = "Kubernetes does not tell them just now. The rest of the page holds."
		return d, nil
	}
	var err error
	d.Events, d.NoEvents, err = p.happenings(events, failed)
	return d, err
}

func age(old bool) string {
	if old {
		return "not the one you requested"
	}
	return ""
}

// containers returns the containers of the spec, or the init containers, even before the node reports them.
func (p *Pages) containers(at podRequest, init bool, kills podcause.Kills) []views.Container {
	spec, statuses := at.pod.Spec.Containers, at.pod.Status.ContainerStatuses
	if init {
		spec, statuses = at.pod.Spec.InitContainers, at.pod.Status.InitContainerStatuses
	}
	out := make([]views.Container, 0, len(spec))
	for i := range spec {
		s := &corev1.ContainerStatus{}
		if n := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool {
			return s.Name == spec[i].Name
		}); n >= 0 {
			s = &statuses[n]
		}
		c := views.Container{
			Name: spec[i].Name, Image: spec[i].Image, Restarts: int(s.RestartCount),
			Look: containerLook(at.pod, s, init, p.Now(), kills),
			Logs: at.view.Href + "/logs?container=" + spec[i].Name,
		}
		if t := podcause.LastEnd(s); t != nil {
			c.LastWords = t.Message
		}
		if t := s.LastTerminationState.Terminated; t != nil {
			c.Restarted = p.Moment(t.FinishedAt.Time)
		}
		out = append(out, c)
	}
	return out
}
