package stack

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

// podEvents records the events that a kubelet records for a failing container: kwok's stages have only fixed texts.
type podEvents struct{ recorder record.EventRecorder }

// startPodEvents watches Pods until Close.
func (s *Stack) startPodEvents(ctx context.Context, clients kubernetes.Interface) error {
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: clients.CoreV1().Events("")})
	p := &podEvents{recorder: broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet"})}
	factory := informers.NewSharedInformerFactory(clients, 0)
	informer := factory.Core().V1().Pods().Informer()
	// The API server may be restarted; the watch is retried anyway.
	if err := informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}); err != nil {
		return err
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: p.updated}); err != nil {
		return err
	}
	s.background(ctx, func(ctx context.Context) error {
		defer broadcaster.Shutdown()
		factory.Start(ctx.Done())
		<-ctx.Done()
		factory.Shutdown()
		return nil
	})
	return nil
}

// updated records an event for the new status of each container, once.
func (p *podEvents) updated(before, after any) {
	was, is := before.(*corev1.Pod), after.(*corev1.Pod)
	if is.Status.Reason == "Evicted" && was.Status.Reason != is.Status.Reason {
		p.recorder.Event(&corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: is.Namespace, Name: is.Name, UID: is.UID,
			ResourceVersion: is.ResourceVersion,
		}, corev1.EventTypeWarning, is.Status.Reason, is.Status.Message)
	}
	known := map[string]string{}
	for i := range was.Status.ContainerStatuses {
		c := &was.Status.ContainerStatuses[i]
		known[c.Name] = c.State.String()
	}
	for i := range is.Status.ContainerStatuses {
		c := &is.Status.ContainerStatuses[i]
		if known[c.Name] == c.State.String() {
			continue
		}
		if kind, reason, message := eventOf(is, c); kind != "" {
			p.recorder.Event(&corev1.ObjectReference{
				APIVersion: "v1", Kind: "Pod", Namespace: is.Namespace, Name: is.Name, UID: is.UID,
				ResourceVersion: is.ResourceVersion, FieldPath: fmt.Sprintf("spec.containers{%s}", c.Name),
			}, kind, reason, message)
		}
	}
}

// eventOf returns the event that a kubelet records when a container enters its
// state; kind is empty if there is none.
func eventOf(pod *corev1.Pod, c *corev1.ContainerStatus) (kind, reason, message string) {
	switch {
	case c.State.Waiting != nil:
		return eventOfWaiting(pod, c)
	case c.State.Running != nil && logOf(c.Image) == "readiness":
		return corev1.EventTypeWarning, "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"
	case c.State.Running != nil && logOf(c.Image) == "startup":
		return corev1.EventTypeWarning, "Unhealthy", "Startup probe failed: HTTP probe failed with statuscode: 503"
	case c.State.Terminated != nil && logOf(c.Image) == "startup":
		return corev1.EventTypeNormal, "Killing",
			fmt.Sprintf("Container %s failed startup probe, will be restarted", c.Name)
	default:
		return "", "", ""
	}
}

func eventOfWaiting(pod *corev1.Pod, c *corev1.ContainerStatus) (kind, reason, message string) {
	switch why := c.State.Waiting; why.Reason {
	case "ErrImagePull":
		return corev1.EventTypeWarning, "Failed", fmt.Sprintf("Failed to pull image %q: %s", c.Image, why.Message)
	case "ImagePullBackOff":
		return corev1.EventTypeNormal, "BackOff", fmt.Sprintf("Back-off pulling image %q", c.Image)
	case "CreateContainerConfigError":
		return corev1.EventTypeWarning, "Failed", "Error: " + why.Message
	case "CrashLoopBackOff":
		return corev1.EventTypeWarning, "BackOff",
			fmt.Sprintf("Back-off restarting failed container %s in pod %s_%s(%s)", c.Name, pod.Name, pod.Namespace,
				pod.UID)
	default:
		return "", "", ""
	}
}
