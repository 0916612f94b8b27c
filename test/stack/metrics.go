package stack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
)

// The API of metrics-server, and the Service in front of it.
const (
	metricsGroup, metricsVersion = "metrics.k8s.io", "v1beta1"
	metricsService               = "metrics-server"
	metricsHost                  = metricsService + "." + metav1.NamespaceSystem + ".svc"
	// metricsWindow is the period of metrics-server's measurements.
	metricsWindow = 15 * time.Second
)

// metrics serves the usage of Pods instead of metrics-server: kwok's containers have no usage to measure. A
// container's usage is derived from its name and its requests, and is constant. The API server has authorised the
// caller before.
type metrics struct{ clients kubernetes.Interface }

// startMetrics serves the metrics API, and registers it. An external cluster has its own, or none.
func (s *Stack) startMetrics(ctx context.Context) error {
	if !s.opts.Parts.has(Nodes) || s.opts.ExternalKubeconfig != "" {
		return nil
	}
	clients, err := kubernetes.NewForConfig(s.Admin)
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(s.pki.ServingCert, s.pki.ServingKey)
	if err != nil {
		return fmt.Errorf("load the certificate of the metrics API: %w", err)
	}
	apiServer := x509.NewCertPool()
	apiServer.AddCert(s.pki.frontProxy.ca)
	_, err = s.serve(ctx, "the metrics API", s.ports.metrics, (&metrics{clients: clients}).handler(), &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: apiServer,
		MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		return err
	}
	return ApplyObjects(ctx, s.Admin, s.MetricsObjects()...)
}

// MetricsObjects returns the objects that register the metrics API: a test deletes the APIService for a cluster
// without metrics-server, and applies it again.
func (s *Stack) MetricsObjects() []*unstructured.Unstructured {
	return []*unstructured.Unstructured{
		{Object: object{
			"apiVersion": "v1", "kind": "Service",
			"metadata": object{"name": metricsService, "namespace": metav1.NamespaceSystem},
			// the API server does not use addresses of the cluster network
			"spec": object{"type": string(corev1.ServiceTypeExternalName), "externalName": s.opts.ip()},
		}},
		{Object: object{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
			"metadata": object{"name": metricsVersion + "." + metricsGroup},
			"spec": object{
				"group": metricsGroup, "version": metricsVersion, "groupPriorityMinimum": int64(100),
				"versionPriority": int64(100),
				"caBundle":        base64.StdEncoding.EncodeToString(s.pki.caPEM),
				"service":         object{"name": metricsService, "namespace": metav1.NamespaceSystem, "port": int64(s.ports.metrics)},
			},
		}},
	}
}

func (m *metrics) handler() http.Handler {
	const at = "/apis/" + metricsGroup + "/" + metricsVersion
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+at, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: metricsGroup + "/" +
				metricsVersion,
			APIResources: []metav1.APIResource{
				{Name: "pods", Namespaced: true, Kind: "PodMetrics", Verbs: metav1.Verbs{"get", "list"}},
			},
		})
	})
	mux.HandleFunc("GET "+at+"/pods", m.list)
	mux.HandleFunc("GET "+at+"/namespaces/{namespace}/pods", m.list)
	mux.HandleFunc("GET "+at+"/namespaces/{namespace}/pods/{pod}", m.get)
	return mux
}

func (m *metrics) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	of := metav1.ListOptions{LabelSelector: q.Get("labelSelector"), FieldSelector: q.Get("fieldSelector")}
	pods, err := m.clients.CoreV1().Pods(r.PathValue("namespace")).List(r.Context(), of)
	if err != nil {
		fail(w, err)
		return
	}
	items := []object{}
	for i := range pods.Items {
		if usage := usageOf(&pods.Items[i]); usage != nil {
			items = append(items, usage)
		}
	}
	answer(w, http.StatusOK, object{
		"apiVersion": metricsGroup + "/" + metricsVersion, "kind": "PodMetricsList", "metadata": object{},
		"items": items,
	})
}

func (m *metrics) get(w http.ResponseWriter, r *http.Request) {
	pod, err := m.clients.CoreV1().Pods(r.PathValue("namespace")).Get(
		r.Context(), r.PathValue("pod"), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		fail(w, err)
		return
	}
	usage := usageOf(pod)
	if usage == nil {
		fail(w, apierrors.NewNotFound(schema.GroupResource{Group: metricsGroup, Resource: "podmetrics"},
			r.PathValue("namespace")+"/"+r.PathValue("pod")))
		return
	}
	answer(w, http.StatusOK, usage)
}

// usageOf returns the PodMetrics of a Pod, or nil while none of its containers runs.
func usageOf(pod *corev1.Pod) object {
	running := map[string]bool{}
	for i := range pod.Status.ContainerStatuses {
		running[pod.Status.ContainerStatuses[i].Name] = pod.Status.ContainerStatuses[i].State.Running != nil
	}
	var containers []object
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if running[c.Name] {
			containers = append(containers, object{"name": c.Name, "usage": containerUsage(pod.Name, c)})
		}
	}
	if containers == nil {
		return nil
	}
	return object{
		"apiVersion": metricsGroup + "/" + metricsVersion, "kind": "PodMetrics",
		"metadata":  object{"name": pod.Name, "namespace": pod.Namespace, "labels": pod.Labels, "creationTimestamp": time.Now().UTC().Format(time.RFC3339)},
		"timestamp": time.Now().UTC().Format(time.RFC3339), "window": metricsWindow.String(), "containers": containers,
	}
}

// containerUsage returns a part of what the container requests: 15 to 54 % of its CPU, which is below any
// autoscaler's target, and 30 to 69 % of its memory.
func containerUsage(pod string, c *corev1.Container) object {
	h := fnv.New32a()
	_, _ = h.Write([]byte(pod + "/" + c.Name)) // hashes never fail
	draw := int64(h.Sum32() % 40)
	cpu, memory := resource.MustParse("100m"), resource.MustParse("64Mi")
	if q, ok := c.Resources.Requests[corev1.ResourceCPU]; ok {
		cpu = q
	}
	if q, ok := c.Resources.Requests[corev1.ResourceMemory]; ok {
		memory = q
	}
	return object{
		"cpu":    fmt.Sprintf("%dn", cpu.MilliValue()*(15+draw)*10_000), // in nano-cores, as metrics-server writes it
		"memory": fmt.Sprintf("%dKi", memory.Value()*(30+draw)/100/1024),
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the API server has disconnected
}

// fail writes an error as the API server passes it on.
func fail(w http.ResponseWriter, err error) {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		status = apierrors.NewInternalError(err)
	}
	body := status.ErrStatus
	body.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	answer(w, int(body.Code), body)
}
