package check

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/api/identity"
)

const (
	// probeTimeout bounds the wait for a Pod's own answer: network policies may not let the API server reach it.
	probeTimeout = 3 * time.Second
	// maxProbe bounds a Pod's answer.
	maxProbe = 8 << 10
	// probesAtOnce bounds how many Pods are asked at the same time.
	probesAtOnce = 8
)

// programs are the Deployments, each with the name of the port at which its Pods answer /readyz.
var programs = []struct{ component, port string }{{"operator", "health"}, {"portal", "pages"}}

// running checks whether the Pods of operator and portal are ready. Only they can know whether they reach the identity
// provider, with their own network and authorities.
func (c *Cluster) running(ctx context.Context) ([]Finding, error) {
	var all []Finding
	for _, p := range programs {
		pods, err := c.podsOf(ctx, p.component)
		if err != nil {
			return nil, err
		}
		f, err := c.ready(ctx, p.component, p.port, pods)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// ours returns the objects of a component in Portico's namespace.
func (c *Cluster) ours(ctx context.Context, group, resource, component string) ([]object, error) {
	list, err := c.objects.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}).
		Namespace(c.names.namespace()).List(ctx, metav1.ListOptions{
		LabelSelector: "app.kubernetes.io/name=portico,app.kubernetes.io/component=" + component,
	})
	if err != nil {
		return nil, fmt.Errorf("list the %s of the %s: %w", resource, component, err)
	}
	return list.Items, nil
}

// podsOf returns the Pods of a component that should be ready.
func (c *Cluster) podsOf(ctx context.Context, component string) ([]corev1.Pod, error) {
	items, err := c.ours(ctx, "", "pods", component)
	if err != nil {
		return nil, err
	}
	var all []corev1.Pod
	for i := range items {
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(items[i].Object, &pod); err != nil {
			return nil, fmt.Errorf("read the Pod %s: %w", items[i].GetName(), err)
		}
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if pod.DeletionTimestamp == nil && !ended {
			all = append(all, pod)
		}
	}
	return all, nil
}

// ready returns the finding about the Pods of a component.
func (c *Cluster) ready(ctx context.Context, component, port string, pods []corev1.Pod) (Finding, error) {
	if len(pods) == 0 {
		return c.without(ctx, component)
	}
	said := c.words(ctx, port, pods)
	for i := range pods {
		isReady, why := podReady(&pods[i])
		says := said[i]
		if isReady && (says == "" || says == "ok") {
			continue
		}
		if says == "" || says == "ok" {
			says = why
		}
		if !isReady {
			says = "it is not ready: " + strings.TrimPrefix(says, "not ready: ")
		}
		return Finding{
			State: Lacking, Says: pods[i].Name + ": " + says,
			Fix: "kubectl logs -n " + c.names.namespace() + " " + pods[i].Name,
		}, nil
	}
	return Finding{State: OK, Says: fmt.Sprintf("the %s's Pods are ready: %d", component, len(pods))}, nil
}

// without returns the finding about a component that has no Pods.
func (c *Cluster) without(ctx context.Context, component string) (Finding, error) {
	deployments, err := c.ours(ctx, "apps", "deployments", component)
	if err != nil {
		return Finding{}, err
	}
	name := "portico-" + component
	if len(deployments) == 0 {
		return Finding{
			State: Off, Says: "there is no Deployment " + name + " in " + c.names.namespace(), Fix: "install the chart",
		}, nil
	}
	if n, found, _ := unstructured.NestedInt64(deployments[0].Object, "spec", "replicas"); found && n == 0 {
		return Finding{
			State: Off, Says: "the Deployment " + name + " is scaled to 0",
			Fix: "kubectl scale deployment -n " + c.names.namespace() + " " + name + " --replicas=2",
		}, nil
	}
	return Finding{
		State: Lacking, Says: "the Deployment " + name + " has no Pods",
		Fix: "kubectl describe deployment,replicaset -n " + c.names.namespace() + " -l app.kubernetes.io/component=" +
			component,
	}, nil
}

func podReady(pod *corev1.Pod) (ready bool, why string) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue, condition.Message
		}
	}
	return false, "it is " + string(pod.Status.Phase)
}

// words returns what the Pods answer at /readyz, each in its place.
func (c *Cluster) words(ctx context.Context, port string, pods []corev1.Pod) []string {
	all := make([]string, len(pods))
	var asking errgroup.Group
	asking.SetLimit(probesAtOnce)
	for i := range pods {
		asking.Go(func() error {
			all[i] = c.readyz(ctx, &pods[i], port)
			return nil
		})
	}
	_ = asking.Wait() // none returns an error
	return all
}

// readyz returns what a Pod answers at /readyz, through the API server: see word. It is "" if the Pod does not answer,
// cannot be reached, or answers something else.
func (c *Cluster) readyz(ctx context.Context, pod *corev1.Pod, port string) string {
	path, ok := readyzPath(pod, port)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	at := *c.host
	at.Path = strings.TrimSuffix(at.Path, "/") + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return ""
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }() // it is read, or of no use
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxProbe))
	pods := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") // the API server's own answers are JSON
	if err != nil || !pods || resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusServiceUnavailable {
		return ""
	}
	return word(string(body))
}

// readyzPath returns the path of the API server that leads to /readyz of the Pod, as its readiness probe asks for it.
func readyzPath(pod *corev1.Pod, port string) (string, bool) {
	for i := range pod.Spec.Containers {
		of := &pod.Spec.Containers[i]
		for _, p := range of.Ports {
			if p.Name != port {
				continue
			}
			name := pod.Name + ":" + strconv.Itoa(int(p.ContainerPort))
			if probe := of.ReadinessProbe; probe != nil && probe.HTTPGet != nil &&
				probe.HTTPGet.Scheme == corev1.URISchemeHTTPS {
				name = "https:" + name
			}
			return "/api/v1/namespaces/" + pod.Namespace + "/pods/" + name + "/proxy/readyz", true
		}
	}
	return "", false
}

// word returns what an answer says: of a line for each check those that failed, else a first line as operator and
// portal write it. It is "" for anything else, which is not from them: a proxy in between, or another program in the
// Pod.
func word(answer string) string {
	var failed []string
	passed := false
	for line := range strings.Lines(answer) {
		if check, ok := strings.CutPrefix(line, "[-]"); ok {
			failed = append(failed, identity.Clean(check))
		}
		passed = passed || strings.HasPrefix(line, "[+]")
	}
	if len(failed) > 0 {
		return brief(failed)
	}
	first, _, _ := strings.Cut(answer, "\n")
	switch {
	case passed || first == "ok":
		return "ok"
	case strings.HasPrefix(first, "ok, but "), strings.HasPrefix(first, "not ready: "):
		return identity.Clean(first)
	}
	return ""
}
