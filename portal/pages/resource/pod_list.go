package resource

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

const (
	// maxPods bounds the Pods on a page.
	maxPods = 100
	// maxFailed bounds the failed ones among them: they stay in the cluster until somebody deletes them.
	maxFailed = 5
)

// shown returns the Pods that a page shows, of those that List returned, where the failed ones come last.
func shown(pods []*corev1.Pod) []*corev1.Pod {
	first := slices.IndexFunc(pods, podcause.Over)
	if first < 0 {
		first = len(pods)
	}
	return pods[:min(len(pods), first+maxFailed, maxPods)]
}

const noPodsHere = "You are not allowed to see Pods here: your role lacks the right to list them."

func (p *Pages) addPods(ctx context.Context, l objectRequest, obj *unstructured.Unstructured, app *v1alpha1.WebApp,
	out *views.App,
) error {
	pods, err := p.Cluster.Pods.List(ctx, l.id, obj)
	if _, ok := errors.AsType[*failure.ForbiddenError](err); ok {
		out.NoPods = noPodsHere
		return nil
	}
	if err != nil {
		return err
	}
	out.NoPods = "There are no Pods. They come with the rollout; what holds it up stands above."
	all := len(pods)
	pods = shown(pods)
	out.Hidden = all - len(pods)
	for _, pod := range pods {
		out.Pods = append(out.Pods, p.podOf(l, pod, app.Spec.Image))
	}
	out.Crash = p.lastCrash(l, pods)
	usage, err := p.Cluster.Pods.Usage(ctx, l.id, obj, pods)
	out.NoUsage = noUsage(usage, err)
	addGauges(out, pods, usage)
	return nil
}

// podOf returns a row of the list of Pods.
func (p *Pages) podOf(l objectRequest, pod *corev1.Pod, wanted string) views.Pod {
	image := imageOf(pod)
	v := views.Pod{
		ID: "pod-" + page.ElementID(pod.Name), Name: pod.Name,
		Href: views.PodPath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name, pod.Name),
		Look: podLook(pod, p.Now(), nil), LastWords: podLastWords(pod),
		Image: image, Version: tagOf(image), Old: image != wanted,
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

// imageOf returns the image of the application's own container.
func imageOf(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == podcause.App || len(pod.Spec.Containers) == 1 {
			return pod.Spec.Containers[i].Image
		}
	}
	return ""
}

// tagOf returns the part that identifies an image's version: the tag, or the beginning of the digest.
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
