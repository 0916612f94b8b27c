// Package pods has the Pods of applications, their events, their logs and what they use.
package pods

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/impersonate"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/podlogs"
)

const (
	// maxPodEvents bounds the events that are shown about one Pod.
	maxPodEvents = 50
)

// Pods reads about Pods for callers, after checking their rights. It is safe for concurrent use.
type Pods struct {
	rights       *rights.Rights
	feed         *feed.Feed
	impersonator *impersonate.Impersonator
	activity     *activity.Recorder
	// events are the events about Pods, which the cache does not hold.
	events     *podEvents
	logReaders podlogs.Readers
	usage      usages
}

// New returns Pods. Logs and figures are read as the caller; client is for events, with the portal's own credentials.
func New(may *rights.Rights, from *feed.Feed, as *impersonate.Impersonator, client kubernetes.Interface,
	to *activity.Recorder, c clock.PassiveClock,
) *Pods {
	return &Pods{
		rights: may, feed: from, impersonator: as, activity: to, usage: usages{clock: c},
		events: newPodEvents(client, from.Kinds, from.Changes.Publish),
	}
}

// Close ends the watches of events.
func (p *Pods) Close() { p.events.close() }

// List returns the Pods of app, newest first, and after them the failed ones likewise; they are shared with the cache
// and hold only what trimPod leaves. The caller needs the right to list Pods in the namespace; the termination messages
// of containers need the right to read logs.
func (p *Pods) List(ctx context.Context, id auth.Identity, app *unstructured.Unstructured) ([]*corev1.Pod, error) {
	if err := p.rights.RequireRight(ctx, id, rights.ListPods.In(app.GetNamespace())); err != nil {
		return nil, err
	}
	var list corev1.PodList
	mine := client.MatchingLabels{v1alpha1.LabelWebApp: app.GetName()}
	if len(validation.IsValidLabelValue(app.GetName())) > 0 {
		return nil, nil // a name that is no valid label value has no Pods
	}
	if err := p.feed.List(ctx, "pods", &list, client.InNamespace(app.GetNamespace()), mine); err != nil {
		return nil, err
	}
	words, err := p.rights.Allowed(ctx, id, rights.GetLogs.In(app.GetNamespace()))
	if err != nil {
		return nil, err
	}
	out := make([]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		if out[i] = &list.Items[i]; !words {
			out[i] = withoutWords(out[i])
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(failed(a)-failed(b), b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// failed returns 1 for a Pod that failed: it has been replaced, and would hide those that run.
func failed(pod *corev1.Pod) int {
	if podcause.Over(pod) {
		return 1
	}
	return 0
}

// withoutWords returns a copy of a Pod without the termination messages of its containers, which can hold anything, as
// logs can.
func withoutWords(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	for _, all := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range all {
			for _, t := range []*corev1.ContainerStateTerminated{
				all[i].State.Terminated, all[i].LastTerminationState.Terminated,
			} {
				if t != nil {
					t.Message = ""
				}
			}
		}
	}
	return pod
}

// podNamed refuses an invalid Pod name, because it becomes part of a request's path.
func podNamed(name string) error {
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Errorf("pod %q: no Pod has such a name", name)
	}
	return nil
}
