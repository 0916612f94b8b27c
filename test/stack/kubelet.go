package stack

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/portico-platform/portico/test/stack/pods"
)

// kubelet serves the API server's requests for the logs of Pods, on every Node. It refuses what a kubelet refuses,
// and gets from kwok the log for the container's image.
type kubelet struct {
	clients kubernetes.Interface
	kwok    *httputil.ReverseProxy
	node    *pods.Node
}

func (s *Stack) startKubelet(ctx context.Context, clients kubernetes.Interface) error {
	pair, err := tls.LoadX509KeyPair(s.pki.ServingCert, s.pki.ServingKey)
	if err != nil {
		return fmt.Errorf("load the certificate of the kubelets' endpoint: %w", err)
	}
	upstream := &url.URL{Scheme: "http", Host: s.address(s.ports.kwok)}
	k := &kubelet{clients: clients, node: s.node, kwok: &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		FlushInterval: -1, // followed lines arrive as they are written
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.logs)
	_, err = s.serve(ctx, "the kubelets' endpoint", s.ports.kubelet, mux,
		&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	return err
}

func (k *kubelet) logs(w http.ResponseWriter, r *http.Request) {
	namespace, name := r.PathValue("namespace"), r.PathValue("pod")
	pod, err := k.clients.CoreV1().Pods(namespace).Get(r.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		refuse(w, http.StatusNotFound, fmt.Errorf("pod %q does not exist", name))
		return
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, fmt.Errorf("read pod %q: %w", name, err))
		return
	}
	if pod.Spec.NodeName == pods.Name {
		k.node.ServeLog(w, r, pod.UID)
		return
	}
	query := r.URL.Query()
	status, err := logStatus(pod, r.PathValue("container"), query.Get("previous") == "true")
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	if status.State.Running == nil || query.Get("previous") == "true" {
		query.Del("follow") // the log has ended
	}
	r.URL.RawQuery = query.Encode()
	r.URL.Path = fmt.Sprintf("/containerLogs/%s/%s/%s", namespace, name, logOf(status.Image))
	k.kwok.ServeHTTP(w, r)
}

// refuse writes the error without a final newline: the API server uses the text as a message.
func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, err.Error())
}

// logStatus returns the status of a container that has a log. The error has a kubelet's message why there is none.
func logStatus(pod *corev1.Pod, container string, previous bool) (*corev1.ContainerStatus, error) {
	i := slices.IndexFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.Name == container
	})
	if i < 0 {
		return nil, fmt.Errorf("container %q in pod %q is not available", container, pod.Name)
	}
	status := &pod.Status.ContainerStatuses[i]
	waiting, ended := status.State.Waiting, status.LastTerminationState.Terminated != nil
	switch {
	case previous && !ended:
		return nil, fmt.Errorf("previous terminated container %q in pod %q not found", container, pod.Name)
	case waiting == nil || ended:
		return status, nil
	case waiting.Reason == "ErrImagePull":
		return nil, fmt.Errorf("container %q in pod %q is waiting to start: image can't be pulled", container, pod.Name)
	case waiting.Reason == "ImagePullBackOff":
		return nil, fmt.Errorf("container %q in pod %q is waiting to start: trying and failing to pull image",
			container, pod.Name)
	default:
		return nil, fmt.Errorf("container %q in pod %q is waiting to start: %s", container, pod.Name, waiting.Reason)
	}
}

var failingImage = regexp.MustCompile(`(?:^|/)broken-([a-z]+)(?:[:@]|$)`)

// logOf returns the name of an image's log.
func logOf(image string) string {
	if found := failingImage.FindStringSubmatch(image); found != nil && slices.Contains(logging, found[1]) {
		return found[1]
	}
	return "running"
}
