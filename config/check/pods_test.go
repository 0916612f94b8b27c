package check

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/rest"

	"github.com/portico-platform/portico/api/identity"
)

func podOf(component, name string, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "portico-system", Name: name, Labels: map[string]string{
			"app.kubernetes.io/name": "portico", "app.kubernetes.io/component": component,
		}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name:  component,
			Ports: []corev1.ContainerPort{{Name: "pages", ContainerPort: 8080}, {Name: "health", ContainerPort: 8081}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Scheme: map[bool]corev1.URIScheme{true: corev1.URISchemeHTTPS}[component == "portal"],
			}}},
		}}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodReady, Status: ready, Message: "containers with unready status",
		}}},
	}
}

// TestPodsSayWhyTheyAreNotReady checks what is found about Pods, by what they answer through the API server.
func TestPodsSayWhyTheyAreNotReady(t *testing.T) {
	const operatorPath = "/api/v1/namespaces/portico-system/pods/o-1:8081/proxy/readyz"
	const portalPath = "/api/v1/namespaces/portico-system/pods/https:p-1:8080/proxy/readyz"
	deployment := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{
			"namespace": "portico-system", "name": "portico-portal",
			"labels": map[string]any{"app.kubernetes.io/name": "portico", "app.kubernetes.io/component": "portal"},
		},
	}}
	stopped := deployment.DeepCopy()
	stopped.Object["spec"] = map[string]any{"replicas": int64(0)}
	ended := podOf("portal", "p-1", corev1.ConditionFalse)
	ended.Status.Phase = corev1.PodFailed
	logs := func(name string) string { return "kubectl logs -n portico-system " + name }
	for name, c := range map[string]struct {
		objects []runtime.Object
		answers map[string]string // of the Pods that the API server reaches, by path
		want    []Finding
	}{
		"nothing is installed": {want: []Finding{
			{State: Off, Says: "there is no Deployment portico-operator in portico-system", Fix: "install the chart"},
			{State: Off, Says: "there is no Deployment portico-portal in portico-system", Fix: "install the chart"},
		}},
		"no Pod, and one that has ended": {
			objects: []runtime.Object{deployment, ended, podOf("operator", "o-1", corev1.ConditionTrue)},
			want: []Finding{
				{State: OK, Says: "the operator's Pods are ready: 1"},
				{
					State: Lacking, Says: "the Deployment portico-portal has no Pods",
					Fix: "kubectl describe deployment,replicaset -n portico-system " +
						"-l app.kubernetes.io/component=portal",
				},
			},
		},
		"scaled to nothing": {
			objects: []runtime.Object{stopped, podOf("operator", "o-1", corev1.ConditionTrue)},
			want: []Finding{
				{State: OK, Says: "the operator's Pods are ready: 1"},
				{
					State: Off, Says: "the Deployment portico-portal is scaled to 0",
					Fix: "kubectl scale deployment -n portico-system portico-portal --replicas=2",
				},
			},
		},
		"ready, and reachable or not": {
			objects: []runtime.Object{
				podOf("operator", "o-1", corev1.ConditionTrue), podOf("portal", "p-1", corev1.ConditionTrue),
			},
			answers: map[string]string{operatorPath: "ok"},
			want: []Finding{
				{State: OK, Says: "the operator's Pods are ready: 1"}, {State: OK, Says: "the portal's Pods are ready: 1"},
			},
		},
		"not ready, and they say why": {
			objects: []runtime.Object{
				podOf("operator", "o-1", corev1.ConditionFalse), podOf("portal", "p-1", corev1.ConditionFalse),
			},
			answers: map[string]string{
				operatorPath: "[+]caches ok\n[-]identityprovider failed: it is away\nreadyz check failed\n",
				portalPath:   "not ready: the identity provider https://login is away\n",
			},
			want: []Finding{
				{State: Lacking, Says: "o-1: it is not ready: identityprovider failed: it is away", Fix: logs("o-1")},
				{State: Lacking, Says: "p-1: it is not ready: the identity provider https://login is away", Fix: logs("p-1")},
			},
		},
		"not ready, and out of reach; ready, with an outage": {
			objects: []runtime.Object{
				podOf("operator", "o-1", corev1.ConditionFalse), podOf("portal", "p-1", corev1.ConditionTrue),
			},
			answers: map[string]string{portalPath: "ok, but the identity provider does not answer\n"},
			want: []Finding{
				{State: Lacking, Says: "o-1: it is not ready: containers with unready status", Fix: logs("o-1")},
				{State: Lacking, Says: "p-1: ok, but the identity provider does not answer", Fix: logs("p-1")},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := withPods(t, c.objects, c.answers).running(t.Context())
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v; running() (-want +got):\n%s", err, diff)
			}
		})
	}
}

// withPods returns a cluster with objects, whose Pods answer at the paths, with 503 unless they are well. At other
// paths the API server itself says that it does not reach them.
func withPods(t *testing.T, objects []runtime.Object, answers map[string]string) *Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, reached := answers[r.URL.Path]
		switch {
		case !reached:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			answer = `{"kind":"Status","message":"error trying to reach service"}`
		case answer[:2] == "ok":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		default:
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	host, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	known := runtime.NewScheme()
	if err := corev1.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	lists := map[schema.GroupVersionResource]string{
		{Group: "apps", Version: "v1", Resource: "deployments"}: "DeploymentList",
	}
	return &Cluster{
		host: host, http: server.Client(),
		objects: fake.NewSimpleDynamicClientWithCustomListKinds(known, lists, objects...),
	}
}

// TestTheTokenStaysWithTheAPIServer checks that a Pod cannot send the credentials elsewhere with a redirect.
func TestTheTokenStaysWithTheAPIServer(t *testing.T) {
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect} {
		var asked, stolen atomic.Int32
		thief := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			stolen.Add(1)
			_, _ = w.Write([]byte("not ready: all is lost"))
		}))
		defer thief.Close()
		apiServer := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer of-an-admin" {
				asked.Add(1)
			}
			w.Header().Set("Content-Type", "text/plain")
			http.Redirect(w, r, thief.URL, status)
		}))
		defer apiServer.Close()
		c, err := New(&rest.Config{
			Host: apiServer.URL, BearerToken: "of-an-admin", TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		}, Names{})
		if err != nil {
			t.Fatal(err)
		}
		pod := podOf("operator", "o-1", corev1.ConditionTrue)
		if says := c.readyz(t.Context(), pod, "health"); says != "" || asked.Load() != 1 || stolen.Load() != 0 {
			t.Errorf("%d: it says %q; %d requests to the API server, %d elsewhere", status, says, asked.Load(),
				stolen.Load())
		}
	}
}

func TestOnlyWordsOfOperatorAndPortalCount(t *testing.T) {
	const begin = "not ready: "
	long := strings.Repeat("é", 2*identity.Longest)
	bounded := strings.Repeat("é", identity.Longest-len(begin)) + "…"
	for answer, want := range map[string]string{
		"ok":                             "ok",
		"ok\n":                           "ok",
		"[+]caches ok\n[+]crds ok\n":     "ok",
		"ok, but it is late\nmore":       "ok, but it is late",
		"not ready: it begins\n":         "not ready: it begins",
		"[-]a failed\n[+]b ok\n[-]c bad": "a failed, c bad",
		"":                               "",
		"okay":                           "",
		"<html>Sign in here</html>":      "",
		"upstream connect error\nok":     "",
		begin + long:                     begin + bounded,
	} {
		if got := word(answer); got != want {
			t.Errorf("word(%.40q) = %q, want %q", answer, got, want)
		}
	}
}

// TestPodsOutOfReachAreAskedAtOnce checks that many Pods that do not answer take the time of one.
func TestPodsOutOfReachAreAskedAtOnce(t *testing.T) {
	arrived := make(chan struct{}, probesAtOnce)
	all := make(chan struct{})
	go func() {
		for range probesAtOnce {
			<-arrived
		}
		close(all)
	}()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-all:
			_, _ = w.Write([]byte("ok"))
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	host, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	pods := make([]corev1.Pod, probesAtOnce)
	for i := range pods {
		pods[i] = *podOf("operator", "o-"+strconv.Itoa(i), corev1.ConditionTrue)
	}
	for i, says := range (&Cluster{host: host, http: server.Client()}).words(t.Context(), "health", pods) {
		if says != "ok" {
			t.Errorf("Pod %d says %q", i, says)
		}
	}
}
