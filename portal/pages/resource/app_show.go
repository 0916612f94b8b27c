package resource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// maxPods is how many Pods a page shows.
const maxPods = 100

const noPodsHere = "You may not see Pods here: your role lacks the right to list them."

func isApp(k catalog.Kind) bool { return k.Name == catalog.AppKind }

// addApp adds what only applications have: Pods, versions and size.
func (p *Pages) addApp(ctx context.Context, l objectRequest, obj *unstructured.Unstructured, d *views.Detail) error {
	if !isApp(l.ref.Kind) {
		return nil
	}
	d.MayRestart = d.MayUpdate && !d.Resource.Leaving && !d.Paused // the operator would do nothing
	if l.tab != views.TabOverview {
		return nil
	}
	app, err := appOf(obj)
	if err != nil {
		return err
	}
	d.App = &views.App{Size: sizeOf(app, l.ref.Kind), Versions: p.versionsOf(app, d.MayRestart)}
	d.App.Size.Asked = d.MayRestart
	return p.addPods(ctx, l, obj, app, d.App)
}

func (p *Pages) addPods(ctx context.Context, l objectRequest, obj *unstructured.Unstructured, app *v1alpha1.WebApp, out *views.App) error {
	pods, err := p.cluster.Pods(ctx, l.id, obj)
	if _, ok := errors.AsType[*cluster.ForbiddenError](err); ok {
		out.NoPods = noPodsHere
		return nil
	}
	if err != nil {
		return err
	}
	out.NoPods = "There are no Pods. They come with the rollout; what holds it up stands above."
	out.Hidden = max(0, len(pods)-maxPods)
	for _, pod := range pods[:min(len(pods), maxPods)] {
		out.Pods = append(out.Pods, p.podOf(l, pod, app.Spec.Image))
	}
	return nil
}

func appOf(obj *unstructured.Unstructured) (*v1alpha1.WebApp, error) {
	app := &v1alpha1.WebApp{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, app); err != nil {
		return nil, fmt.Errorf("reading WebApp %s: %w", obj.GetName(), err)
	}
	return app, nil
}

// sizeOf tells how far the rollout is. With autoscaling the number wanted is the one that the operator counts against.
func sizeOf(app *v1alpha1.WebApp, k catalog.Kind) views.Size {
	replicas := 1
	if app.Spec.Replicas != nil {
		replicas = int(*app.Spec.Replicas)
	}
	s := views.Size{
		Wanted: replicas, Updated: int(app.Status.UpdatedReplicas), Available: int(app.Status.AvailableReplicas),
		Value: strconv.Itoa(replicas),
	}
	s.Min, s.Max = bounds(k, "replicas")
	if a := app.Spec.Autoscaling; a != nil {
		s.Wanted = int(max(a.Min, 1))
		if _, of, ok := strings.Cut(app.Status.Availability, "/"); ok {
			if n, err := strconv.Atoi(of); err == nil {
				s.Wanted = n
			}
		}
		s.Value = strconv.Itoa(s.Wanted)
		s.Min, s.Max = int(min(a.Min, 1)), int(max(a.Max, app.Status.Replicas))
		s.Locked = fmt.Sprintf("Autoscaling decides: from %d to %d Pods by their CPU, now %d. Edit autoscaling to change that.", max(a.Min, 1), a.Max, s.Wanted)
	}
	return s
}

// bounds returns those of a number in the schema of the kind's spec.
func bounds(k catalog.Kind, name string) (low, high int) {
	i := slices.IndexFunc(k.Fields, func(f catalog.Field) bool { return f.Name == name })
	if i < 0 || k.Fields[i].Limits.Min == nil || k.Fields[i].Limits.Max == nil {
		return 0, 0
	}
	return int(*k.Fields[i].Limits.Min), int(*k.Fields[i].Limits.Max)
}

// versionsOf returns the revisions, newest first. The newest of the image asked for is the wanted one; going back to a version
// with the same image would change nothing.
func (p *Pages) versionsOf(app *v1alpha1.WebApp, may bool) []views.Version {
	wanted := slices.IndexFunc(app.Status.Revisions, func(r v1alpha1.WebAppRevision) bool { return r.Image == app.Spec.Image })
	out := make([]views.Version, 0, len(app.Status.Revisions))
	for i, r := range app.Status.Revisions {
		out = append(out, views.Version{
			Revision: strconv.FormatInt(r.Revision, 10), Tag: tagOf(r.Image), Image: r.Image, Created: p.Moment(r.Created.Time),
			Available: int(r.Available), Wanted: i == wanted, Back: may && r.Image != app.Spec.Image,
		})
	}
	return out
}

// tagOf returns what tells an image's versions apart: the tag, or the beginning of the digest.
func tagOf(image string) string {
	name, digest, ok := strings.Cut(image, "@")
	last := name[strings.LastIndexByte(name, '/')+1:]
	if _, tag, tagged := strings.Cut(last, ":"); tagged {
		return tag
	}
	if ok {
		return digest[:min(len(digest), len("sha256:")+12)]
	}
	return "latest"
}

// podOf returns a row of the list of Pods.
func (p *Pages) podOf(l objectRequest, pod *corev1.Pod, wanted string) views.Pod {
	image := imageOf(pod)
	v := views.Pod{
		ID: "pod-" + page.ElementID(pod.Name), Name: pod.Name,
		Href: views.PodPath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name, pod.Name),
		Look: podLook(pod), LastWords: podLastWords(pod), Image: image, Version: tagOf(image), Old: image != wanted,
		Created: p.Moment(pod.CreationTimestamp.Time), Node: pod.Spec.NodeName,
	}
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		v.Restarts += int(s.RestartCount)
		if t := s.LastTerminationState.Terminated; t != nil && t.FinishedAt.After(v.Restarted.At) {
			v.Restarted = p.Moment(t.FinishedAt.Time)
		}
	}
	return v
}

// imageOf tells what the application's own container runs.
func imageOf(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == appContainer || len(pod.Spec.Containers) == 1 {
			return pod.Spec.Containers[i].Image
		}
	}
	return ""
}
