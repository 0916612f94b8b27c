//go:build node && linux

package node_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// cause is a way in which a web app fails, and what its condition Ready says about it.
type cause struct {
	name string
	spec string // YAML; image and resources have defaults
	// says matches what is said once the cause shows, and never what is wrong.
	says, never string
	reason      string
	changes     bool // it is Ready in between
}

// maxMore is how many sentences may follow the first true one: a loop is one from its second end.
const maxMore = 12

const slowProbes = "probes: {readiness: {path: /healthz, periodSeconds: 1}, startup: {port: 8080, periodSeconds: 1}}"

var causes = []cause{
	{name: "no-image", spec: "image: " + stack.RegistryHost + "/nope:1", says: "cannot be pulled.*not found", reason: v1alpha1.ReasonImagePullBackOff},
	{name: "no-tag", spec: "image: " + app + ":99", says: "cannot be pulled.*not found", reason: v1alpha1.ReasonImagePullBackOff},
	{name: "no-registry", spec: "image: registry.elsewhere.example/shop:1.4.2", says: "cannot be pulled.*no such host", reason: v1alpha1.ReasonImagePullBackOff},
	{name: "closed-registry", spec: "image: 10.200.0.1:5999/app:1", says: "cannot be pulled.*connection refused", reason: v1alpha1.ReasonImagePullBackOff},
	{name: "crash", spec: mode("crash"), says: "exit.* code 3", never: "code 0", reason: v1alpha1.ReasonCrashLoopBackOff},
	{name: "end", spec: mode("end"), says: "exit.* code 0", never: "probe fails|asked it to stop", reason: v1alpha1.ReasonCrashLoopBackOff},
	{name: "once", spec: mode("once") + "\n" + slowProbes, says: "readiness probe", never: "again and again"},
	{name: "unready", spec: mode("unready") + "\n" + slowProbes, says: "readiness probe"},
	{name: "memory", spec: mode("memory"), says: "more memory than its limit", reason: "OOMKilled"},
	{name: "startup", spec: "port: 9090\nprobes: {startup: {failureThreshold: 3, periodSeconds: 1}}", says: "startup probe", reason: ""},
	{name: "startup-term", spec: mode("term1") + "\nport: 9090\nprobes: {startup: {failureThreshold: 3, periodSeconds: 1}}", says: "startup probe", never: "code 1, again and again; read"},
	{name: "deadlock", spec: mode("deadlock") + "\nprobes: {readiness: {path: /healthz, periodSeconds: 1}, liveness: {path: /healthz, periodSeconds: 2, failureThreshold: 2, timeoutSeconds: 1}}", says: "liveness probe", never: "asked it to stop"},
	{name: "root", spec: "image: " + app + ":root", says: "USER that is a number"},
	{name: "named", spec: "image: " + app + ":named", says: "USER that is a number"},
	{name: "no-command", spec: "command: [/nope]", says: "/nope.*no such file"},
	{name: "no-secret", spec: "env: [{name: X, valueFrom: {secretKeyRef: {name: nothing, key: x}}}]", says: "nothing"},
	{name: "no-room", spec: "resources: {requests: {cpu: '64', memory: 64Mi}}", says: "[Ii]nsufficient cpu", reason: v1alpha1.ReasonUnschedulable},
	{name: "full-disk", spec: mode("disk"), says: "again and again: Usage of EmptyDir volume"},
	{name: "init-fault", says: "container init .* exits with code 3"},
	{name: "flapping", spec: mode("flapping") + "\n" + slowProbes, says: "readiness probe does not succeed", never: "exit", changes: true},
	{name: "child", spec: mode("child"), says: "as the spec asks", never: "exit"},
	{name: "sidecar-fault", says: "container sidecar .* exits with code 3"},
}

func mode(name string) string { return "env: [{name: MODE, value: " + name + "}]" }

// sentence is a change of a condition.
type sentence struct {
	after                   time.Duration
	status, reason, message string
}

// recorder notes every change of the condition Ready of the WebApps in a namespace.
type recorder struct {
	mu    sync.Mutex
	began time.Time
	said  map[string][]sentence
}

func record(ctx context.Context, namespace string) (*recorder, error) {
	c, err := client.NewWithWatch(world.Admin, client.Options{Scheme: world.client.Scheme()})
	if err != nil {
		return nil, err
	}
	w, err := c.Watch(ctx, &v1alpha1.WebAppList{}, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	r := &recorder{began: time.Now(), said: map[string][]sentence{}}
	go func() {
		for event := range w.ResultChan() {
			if a, ok := event.Object.(*v1alpha1.WebApp); ok {
				r.note(a)
			}
		}
	}()
	return r, nil
}

func (r *recorder) note(a *v1alpha1.WebApp) {
	ready := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := sentence{time.Since(r.began), string(ready.Status), ready.Reason, ready.Message}
	all := r.said[a.Name]
	if len(all) == 0 || all[len(all)-1].reason != s.reason || all[len(all)-1].message != s.message {
		r.said[a.Name] = append(all, s)
	}
}

func (r *recorder) of(name string) []sentence {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.said[name])
}

// watchMore is how long every cause is watched after all have been said: a crash loop has its fourth restart then.
const watchMore = 25 * time.Second

func TestCauses(t *testing.T) {
	together(t)
	inject(t)
	r, err := record(t.Context(), "payments")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range causes {
		a := webApp(c.name, "1")
		if err := yaml.Unmarshal([]byte(c.spec), &a.Spec); err != nil {
			t.Fatal(err)
		}
		if a.Spec.Resources == nil {
			with("resources: {requests: {cpu: 10m, memory: 48Mi}, limits: {memory: 128Mi}}")(a)
		}
		if err := world.client.Create(t.Context(), a); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
	}
	r.mu.Lock()
	r.began = time.Now()
	r.mu.Unlock()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && !allSaid(r); {
		time.Sleep(time.Second)
	}
	time.Sleep(watchMore)
	for _, c := range causes {
		t.Run(c.name, func(t *testing.T) { c.judge(t, r.of(c.name)) })
	}
}

// allSaid reports whether every cause was said.
func allSaid(r *recorder) bool {
	for _, c := range causes {
		says := regexp.MustCompile(c.says)
		if !slices.ContainsFunc(r.of(c.name), func(s sentence) bool { return says.MatchString(s.message) }) {
			return false
		}
	}
	return true
}

// printAll prints what was said about a WebApp, and when.
func printAll(name string, said []sentence) {
	for _, s := range said {
		_, _ = fmt.Fprintf(os.Stderr, "  %-16s %5.1f s  %-5s %-22s %s\n",
			name, s.after.Seconds(), s.status, s.reason, s.message)
	}
}

// judge fails the test unless the cause was said, and then no more than a few other sentences.
func (c cause) judge(t *testing.T, said []sentence) {
	t.Helper()
	printAll(c.name, said)
	first := slices.IndexFunc(said, func(s sentence) bool { return regexp.MustCompile(c.says).MatchString(s.message) })
	if first < 0 {
		t.Errorf("nothing said %q", c.says)
		return
	}
	if c.changes {
		return
	}
	if got := said[len(said)-1]; !regexp.MustCompile(c.says).MatchString(got.message) {
		t.Errorf("in the end it said %q, want %q", got.message, c.says)
	}
	if c.reason != "" && said[len(said)-1].reason != c.reason {
		t.Errorf("the reason is %s, want %s", said[len(said)-1].reason, c.reason)
	}
	for _, s := range said {
		if c.never != "" && regexp.MustCompile(c.never).MatchString(s.message) {
			t.Errorf("it said %q, which is wrong", s.message)
		}
	}
	if more := len(said) - 1 - first; more > maxMore {
		t.Errorf("%d sentences followed the true one", more)
	}
	loop := slices.IndexFunc(said, func(s sentence) bool { return strings.Contains(s.message, "again and again") })
	if loop >= 0 && len(said)-1-loop > 1 {
		t.Errorf("%d sentences followed the one of a loop", len(said)-1-loop)
	}
}

// inject adds containers that fail to the Pods of two apps, as a service mesh adds its own.
func inject(t *testing.T) {
	t.Helper()
	kubectl(t, "apply", "-f", "testdata/inject.yaml")
	await(t, "the containers are injected", func() (bool, string) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "payments", Name: "injected", Labels: map[string]string{v1alpha1.LabelWebApp: "init-fault"},
		}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "app", Image: app + ":1", SecurityContext: confined()}},
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
		}}
		err := world.client.Create(t.Context(), pod, client.DryRunAll)
		return err == nil && len(pod.Spec.InitContainers) == 1, fmt.Sprint(err)
	})
}

func confined() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}
