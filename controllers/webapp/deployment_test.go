package webapp

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
)

var update = flag.Bool("update", false, "write new golden files")

// sample returns the WebApp of config/samples, with the API server's defaults.
func sample(t *testing.T) *v1alpha1.WebApp {
	t.Helper()
	text, err := os.ReadFile("../../config/samples/webapp.yaml")
	if err != nil {
		t.Fatal(err)
	}
	app := &v1alpha1.WebApp{}
	if err := yaml.UnmarshalStrict(text, app); err != nil {
		t.Fatal(err)
	}
	app.Namespace = "payments"
	return app
}

var fromOrders = projection{
	variables: []variable{
		{name: "ORDERS_ARN", secret: "orders-binding", key: "arn", version: "7"},
		{name: "ORDERS_URL", secret: "orders-binding", key: "url", version: "7"},
	},
}

func TestTheDeploymentOfTheSample(t *testing.T) {
	const golden = "testdata/deployment.yaml"
	got, err := yaml.Marshal(deployment(sample(t), fromOrders))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the Deployment has changed, which replaces every Pod of every WebApp; if it must, run go test with "+
			"-update. It is\n%s", got)
	}
}

// podOfApp returns the declared Pod in the type of k8s.io/api.
func podOfApp(t *testing.T, app *v1alpha1.WebApp, given projection) corev1.PodSpec {
	t.Helper()
	text, err := json.Marshal(podSpec(app, given))
	if err != nil {
		t.Fatal(err)
	}
	var pod corev1.PodSpec
	if err := json.Unmarshal(text, &pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// Each field that the restricted Pod Security Standard requires is checked.
func TestPodsAreRestricted(t *testing.T) {
	pod := podOfApp(t, sample(t), fromOrders)
	if diff := cmp.Diff(&corev1.PodSecurityContext{
		RunAsNonRoot:   new(true),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}, pod.SecurityContext); diff != "" {
		t.Errorf("security context of the Pod (-want +got):\n%s", diff)
	}
	if pod.HostNetwork || pod.HostPID || pod.HostIPC {
		t.Errorf("HostNetwork, HostPID, HostIPC = %v, %v, %v, want false", pod.HostNetwork, pod.HostPID, pod.HostIPC)
	}
	if len(pod.InitContainers) > 0 {
		t.Errorf("InitContainers = %+v, want none", pod.InitContainers)
	}
	for _, v := range pod.Volumes {
		if v.EmptyDir == nil || v.EmptyDir.SizeLimit.IsZero() {
			t.Errorf("volume %+v", v)
		}
	}
	for _, c := range pod.Containers {
		if diff := cmp.Diff(&corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}, c.SecurityContext); diff != "" {
			t.Errorf("security context of %s (-want +got):\n%s", c.Name, diff)
		}
		if port := c.Ports[0].HostPort; port != 0 {
			t.Errorf("HostPort of %s = %d, want none", c.Name, port)
		}
	}
	if *pod.AutomountServiceAccountToken || *pod.EnableServiceLinks {
		t.Error("the Pod is given a token of the API server, or the addresses of every Service")
	}
}

func TestTheEnvironmentHasBindingsFirstAndTheSpecWins(t *testing.T) {
	app := sample(t)
	key := &v1alpha1.SecretKeyRef{Name: "s", Key: "k"}
	app.Spec.Env = []v1alpha1.WebAppEnv{
		{Name: "QUEUE", Value: "$(ORDERS_URL)"},
		{Name: "ORDERS_ARN", Value: "mine"},
		{Name: "EMPTY"},
		{Name: "TOKEN", ValueFrom: &v1alpha1.WebAppEnvSource{SecretKeyRef: key}},
		{Name: "COLOUR", ValueFrom: &v1alpha1.WebAppEnvSource{ConfigMapKeyRef: &v1alpha1.ConfigMapKeyRef{Name: "s", Key: "k"}}},
	}
	app.Spec.EnvFrom = []v1alpha1.WebAppEnvFrom{
		{SecretRef: &v1alpha1.LocalRef{Name: "all"}, Prefix: "ALL_"},
		{ConfigMapRef: &v1alpha1.LocalRef{Name: "more"}},
	}
	c := podOfApp(t, app, fromOrders).Containers[0]
	var got []string
	for _, e := range c.Env {
		one := e.Name + "=" + e.Value
		if f := e.ValueFrom; f != nil && f.SecretKeyRef != nil {
			one += "secret " + f.SecretKeyRef.Name + "/" + f.SecretKeyRef.Key
		} else if f != nil {
			one += "config " + f.ConfigMapKeyRef.Name + "/" + f.ConfigMapKeyRef.Key
		}
		got = append(got, one)
	}
	const want = "ORDERS_URL=secret orders-binding/url, QUEUE=$(ORDERS_URL), ORDERS_ARN=mine, EMPTY=, TOKEN=secret " +
		"s/k, COLOUR=config s/k"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got %s", text)
	}
	if diff := cmp.Diff([]corev1.EnvFromSource{
		{Prefix: "ALL_", SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "all"}}},
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "more"}}},
	}, c.EnvFrom); diff != "" {
		t.Errorf("EnvFrom (-want +got):\n%s", diff)
	}
}

func TestResources(t *testing.T) {
	amounts := func(cpu, memory string) *v1alpha1.WebAppQuantities {
		q := &v1alpha1.WebAppQuantities{}
		if cpu != "" {
			q.CPU = new(resource.MustParse(cpu))
		}
		if memory != "" {
			q.Memory = new(resource.MustParse(memory))
		}
		return q
	}
	for name, row := range map[string]struct {
		asked                                  *v1alpha1.WebAppResources
		cpu, memory, limitOfCPU, limitOfMemory string
	}{
		"nothing is asked":               {nil, "100m", "256Mi", "", "256Mi"},
		"nothing within":                 {&v1alpha1.WebAppResources{}, "100m", "256Mi", "", "256Mi"},
		"requests":                       {&v1alpha1.WebAppResources{Requests: amounts("2000m", "1024Mi")}, "2", "1Gi", "", "1Gi"},
		"higher limits":                  {&v1alpha1.WebAppResources{Limits: amounts("2", "1Gi")}, "100m", "256Mi", "2", "1Gi"},
		"limits below what is requested": {&v1alpha1.WebAppResources{Limits: amounts("50m", "64Mi")}, "50m", "64Mi", "50m", "64Mi"},
		"both":                           {&v1alpha1.WebAppResources{Requests: amounts("1", "512Mi"), Limits: amounts("4", "2Gi")}, "1", "512Mi", "4", "2Gi"},
		"only CPU":                       {&v1alpha1.WebAppResources{Requests: amounts("1", "")}, "1", "256Mi", "", "256Mi"},
		"less than a thousandth of a core is rounded up as the API server does": {&v1alpha1.WebAppResources{Requests: amounts("100.5m", "")}, "101m", "256Mi", "", "256Mi"},
	} {
		t.Run(name, func(t *testing.T) {
			app := sample(t)
			app.Spec.Resources = row.asked
			got := podOfApp(t, app, projection{}).Containers[0].Resources
			text := func(list corev1.ResourceList, name corev1.ResourceName) string {
				if q, ok := list[name]; ok {
					return q.String()
				}
				return ""
			}
			if diff := cmp.Diff(
				[]string{row.cpu, row.memory, row.limitOfCPU, row.limitOfMemory},
				[]string{
					text(got.Requests, "cpu"), text(got.Requests, "memory"),
					text(got.Limits, "cpu"), text(got.Limits, "memory"),
				},
			); diff != "" {
				t.Errorf("CPU and memory of the requests, then of the limits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProbes(t *testing.T) {
	for name, row := range map[string]struct {
		asked                        *v1alpha1.WebAppProbes
		readiness, liveness, startup v1alpha1.WebAppProbe
	}{
		"none": {
			nil,
			v1alpha1.WebAppProbe{Port: 8080, PeriodSeconds: 5, TimeoutSeconds: 3, FailureThreshold: 3},
			v1alpha1.WebAppProbe{Port: 8080, PeriodSeconds: 10, TimeoutSeconds: 3, FailureThreshold: 6},
			v1alpha1.WebAppProbe{Port: 8080, PeriodSeconds: 2, TimeoutSeconds: 3, FailureThreshold: 150},
		},
		"startup asks what readiness asks": {
			&v1alpha1.WebAppProbes{Readiness: &v1alpha1.WebAppProbe{Path: "/ready", Port: 9090, PeriodSeconds: 1}},
			v1alpha1.WebAppProbe{Path: "/ready", Port: 9090, PeriodSeconds: 1, TimeoutSeconds: 3, FailureThreshold: 3},
			v1alpha1.WebAppProbe{Port: 8080, PeriodSeconds: 10, TimeoutSeconds: 3, FailureThreshold: 6},
			v1alpha1.WebAppProbe{
				Path: "/ready", Port: 9090, PeriodSeconds: 2, TimeoutSeconds: 3,
				FailureThreshold: 150,
			},
		},
		"a startup probe of its own does not": {
			&v1alpha1.WebAppProbes{
				Readiness: &v1alpha1.WebAppProbe{Path: "/ready", Port: 9090}, Liveness: &v1alpha1.WebAppProbe{
					Path: "/live", TimeoutSeconds: 9,
				},
				Startup: &v1alpha1.WebAppProbe{FailureThreshold: 7},
			},
			v1alpha1.WebAppProbe{Path: "/ready", Port: 9090, PeriodSeconds: 5, TimeoutSeconds: 3, FailureThreshold: 3},
			v1alpha1.WebAppProbe{Path: "/live", Port: 8080, PeriodSeconds: 10, TimeoutSeconds: 9, FailureThreshold: 6},
			v1alpha1.WebAppProbe{Port: 8080, PeriodSeconds: 2, TimeoutSeconds: 3, FailureThreshold: 7},
		},
	} {
		t.Run(name, func(t *testing.T) {
			readiness, liveness, startup := probesOf(&v1alpha1.WebAppSpec{Port: 8080, Probes: row.asked})
			if readiness != row.readiness || liveness != row.liveness || startup != row.startup {
				t.Errorf("got %+v, %+v, %+v", readiness, liveness, startup)
			}
		})
	}
}
