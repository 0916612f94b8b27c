//go:build node && linux

package node_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// others are the tests that need both Nodes.
var others sync.WaitGroup

// together lets a test run beside the others, for most of it waits.
func together(t *testing.T) {
	t.Helper()
	others.Add(1)
	t.Cleanup(others.Done)
	t.Parallel()
}

// small are the resources of an app that does little.
const small = "{requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 128Mi}}"

// with returns a change of a WebApp's spec by YAML.
func with(spec string) func(*v1alpha1.WebApp) {
	return func(a *v1alpha1.WebApp) {
		if err := yaml.Unmarshal([]byte(spec), &a.Spec); err != nil {
			panic(err)
		}
	}
}

const healthy = "probes: {readiness: {path: /healthz, periodSeconds: 1}, " +
	"startup: {path: /healthz, periodSeconds: 1}}\nresources: " + small

func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := world.client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func get[T client.Object](t *testing.T, namespace, name string, into T) T {
	t.Helper()
	if err := world.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// readiness returns the condition Ready of a WebApp's latest generation.
func readiness(t *testing.T, namespace, name string) metav1.Condition {
	t.Helper()
	a := get(t, namespace, name, &v1alpha1.WebApp{})
	c := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionReady)
	if c == nil || c.ObservedGeneration < a.Generation {
		return metav1.Condition{Message: "not observed yet"}
	}
	return *c
}

func awaitReady(t *testing.T, namespace, name string) {
	t.Helper()
	await(t, namespace+"/"+name+" is Ready", func() (bool, string) {
		c := readiness(t, namespace, name)
		return c.Status == metav1.ConditionTrue, c.Reason + ": " + c.Message
	})
}

// serviceURL returns the URL of a WebApp's Service, which the sandbox reaches through a Node.
func serviceURL(t *testing.T, namespace, name string) string {
	t.Helper()
	s := get(t, namespace, name, &corev1.Service{})
	return fmt.Sprintf("http://%s:%d", s.Spec.ClusterIP, s.Spec.Ports[0].Port)
}

func update(t *testing.T, namespace, name string, change func(*v1alpha1.WebApp)) {
	t.Helper()
	for {
		a := get(t, namespace, name, &v1alpha1.WebApp{})
		change(a)
		err := world.client.Update(t.Context(), a)
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "the object has been modified") {
			t.Fatal(err)
		}
	}
}

func TestAnAppIsRolledOutUnderLoad(t *testing.T) {
	together(t)
	create(t, webApp("shop", "1", with("replicas: 2\n"+healthy)))
	awaitReady(t, "payments", "shop")
	l := startLoad(t.Context(), trusting(t), serviceURL(t, "payments", "shop"), "")
	for _, tag := range []string{"2", "3"} {
		update(t, "payments", "shop", func(a *v1alpha1.WebApp) { a.Spec.Image = app + ":" + tag })
		await(t, "version "+tag+" serves", func() (bool, string) {
			c, a := readiness(t, "payments", "shop"), get(t, "payments", "shop", &v1alpha1.WebApp{})
			return c.Status == metav1.ConditionTrue && a.Status.Image == app+":"+tag, c.Message
		})
	}
	time.Sleep(2 * time.Second)
	l.end(t, "two rollouts of an app")
	if l.answers["version 1"] == 0 || l.answers["version 3"] == 0 {
		t.Errorf("answers: %v", l.answers)
	}
}

func TestThePortalIsRolledOutUnderLoad(t *testing.T) {
	together(t)
	token, err := world.Token(t.Context(), "payments-dev")
	if err != nil {
		t.Fatal(err)
	}
	l := startLoad(t.Context(), trusting(t), portalURL+"/api/v1alpha1/namespaces/payments/webapps", token)
	kubectl(t, "rollout", "restart", "deployment/portico-portal", "-n", stack.Namespace)
	kubectl(t, "rollout", "status", "deployment/portico-portal", "-n", stack.Namespace, "--timeout=4m")
	time.Sleep(2 * time.Second)
	l.end(t, "a rollout of the portal")
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), []string{"KUBECONFIG=" + world.AdminKubeconfig}, root+"/bin/kubectl", args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// portico runs the command line as a sample user.
func portico(t *testing.T, user string, args ...string) (string, error) {
	t.Helper()
	token, err := world.Token(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	return command(t.Context(), []string{
		"PORTICO_TOKEN=" + token,
		"PORTICO_SERVER=" + portalURL,
		"PORTICO_CA_FILE=" + world.CAFile,
		"HOME=" + t.TempDir(),
	}, root+"/bin/portico", args...)
}

func TestAnAppIsScaledByLoad(t *testing.T) {
	together(t)
	r, err := record(t.Context(), "search")
	if err != nil {
		t.Fatal(err)
	}
	a := webApp(
		"busy",
		"1",
		with("autoscaling: {min: 1, max: 3, targetCPU: 50}\nprobes: {readiness: {path: /healthz, periodSeconds: 1}}\n"+
			"resources: {requests: {cpu: 50m, memory: 32Mi}, limits: {memory: 128Mi}}"),
	)
	a.Namespace = "search"
	create(t, a)
	awaitReady(t, "search", "busy")
	l := startLoad(t.Context(), trusting(t), serviceURL(t, "search", "busy")+"/work", "")
	await(t, "more replicas", func() (bool, string) {
		a := get(t, "search", "busy", &v1alpha1.WebApp{})
		return a.Status.AvailableReplicas > 1, fmt.Sprint(a.Status.Availability)
	})
	l.stop() // the policies of the new Pods may lag behind
	ready := false
	printAll("busy", r.of("busy"))
	for _, s := range r.of("busy") {
		if ready && s.status != string(metav1.ConditionTrue) {
			t.Errorf("while it was scaled it was not Ready: %s", s.message)
		}
		ready = ready || s.status == string(metav1.ConditionTrue)
	}
}

func TestLogsAreRead(t *testing.T) {
	together(t)
	create(t, webApp("talk", "2", with(healthy)))
	create(t, webApp("talk-crash", "2", with(mode("crash")+"\nresources: "+small)))
	awaitReady(t, "payments", "talk")
	await(t, "the log", func() (bool, string) {
		out, err := portico(t, "payments-dev", "logs", "talk", "-n", "payments")
		return err == nil && strings.Contains(out, "version 2, user 65532"), fmt.Sprint(out, err)
	})
	await(t, "the log before the crash", func() (bool, string) {
		out, err := portico(t, "payments-dev", "logs", "talk-crash", "-n", "payments", "--previous")
		return err == nil && strings.Contains(out, "no such table"), fmt.Sprint(out, err)
	})
	if out, err := portico(t, "search-dev", "logs", "talk", "-n", "payments"); err == nil {
		t.Errorf("another team read the log: %s", out)
	}
}

// confinement is what every container has.
const confinement = "non-root true, escalation false, read-only root true, capabilities [ALL] dropped"

func TestPodsAreRestricted(t *testing.T) {
	together(t)
	create(t, webApp("plain", "1", with(healthy)))
	awaitReady(t, "payments", "plain")
	var pods corev1.PodList
	for namespace, of := range map[string]client.ListOption{ // other tests add containers of their own
		"payments":      client.MatchingLabels{v1alpha1.LabelWebApp: "plain"},
		stack.Namespace: client.HasLabels{"pod-template-hash"},
	} {
		if err := world.client.List(t.Context(), &pods, client.InNamespace(namespace), of); err != nil {
			t.Fatal(err)
		}
		if len(pods.Items) == 0 {
			t.Errorf("no Pods in %s", namespace)
		}
		for i := range pods.Items {
			p := &pods.Items[i].Spec
			for _, c := range p.Containers {
				s := c.SecurityContext
				got := fmt.Sprintf(
					"non-root %t, escalation %t, read-only root %t, capabilities %v dropped",
					ptr.Deref(p.SecurityContext.RunAsNonRoot, false),
					ptr.Deref(s.AllowPrivilegeEscalation, true),
					ptr.Deref(s.ReadOnlyRootFilesystem, false),
					s.Capabilities.Drop,
				)
				if got != confinement {
					t.Errorf("%s of %s: %s, want %s", c.Name, pods.Items[i].Name, got, confinement)
				}
			}
		}
	}
}

// TestTheQuotaIsSaid finds the quota of a namespace as the cause.
func TestTheQuotaIsSaid(t *testing.T) {
	together(t)
	create(
		t,
		&corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: "growth", Name: "none"},
			Spec: corev1.ResourceQuotaSpec{
				Hard: corev1.ResourceList{corev1.ResourcePods: *quantity("0")},
			},
		},
	)
	r, err := record(t.Context(), "growth")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // until the quota is counted
	a := webApp("quota", "1", with("resources: "+small))
	a.Namespace = "growth"
	create(t, a)
	await(t, "the quota is said", func() (bool, string) {
		c := readiness(t, "growth", "quota")
		return c.Reason == v1alpha1.ReasonQuotaExceeded, c.Message
	})
	cause{name: "quota", says: "quota"}.judge(t, r.of("quota"))
}

// TestHelm runs alone: others start Pods that look like Portico's.
func TestHelm(t *testing.T) {
	if _, err := helm(t.Context(), world.Stack, "test", "portico", "--logs", "--timeout", "4m"); err != nil {
		t.Error(err)
	}
}

// TestANodeDies ends the Node that has an app and the leading operator, after all other tests.
func TestANodeDies(t *testing.T) {
	t.Parallel()
	others.Wait()
	kubectl(t, "cordon", stack.NodeName(1))
	create(t, webApp("survivor", "1", with("replicas: 2\n"+healthy)))
	awaitReady(t, "payments", "survivor")
	kubectl(t, "uncordon", stack.NodeName(1))
	lead(t)
	r, err := record(t.Context(), "payments")
	if err != nil {
		t.Fatal(err)
	}
	before := len(r.of("survivor"))
	died := time.Now()
	for _, n := range world.RealNodes {
		if n.Name == stack.NodeName(2) {
			if err := n.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer func() {
		printAll("survivor", r.of("survivor"))
	}()
	await(t, "the dead Node is said", func() (bool, string) {
		c := readiness(t, "payments", "survivor")
		return strings.Contains(c.Message, stack.NodeName(2)), c.Message
	})
	visible := died
	for _, c := range get(t, "", stack.NodeName(2), &corev1.Node{}).Status.Conditions {
		if c.Type == corev1.NodeReady {
			visible = c.LastTransitionTime.Time
		}
	}
	_, _ = fmt.Fprintf(os.Stderr, "  a dead Node: seen by Kubernetes after %.0f s, said after %.0f s\n",
		visible.Sub(died).Seconds(), time.Since(died).Seconds())
	await(t, "the app has moved", func() (bool, string) {
		c := readiness(t, "payments", "survivor")
		return c.Status == metav1.ConditionTrue, c.Message
	})
	_, _ = fmt.Fprintf(
		os.Stderr,
		"  the app is Ready again after %.0f s, and %d sentences\n",
		time.Since(died).Seconds(),
		len(r.of("survivor"))-before,
	)
	a := webApp("after", "1", with("resources: "+small))
	create(t, a)
	awaitReady(t, "payments", "after")
}

// lead makes the operator on the second Node the leader, and leaves the other one on the first.
func lead(t *testing.T) {
	t.Helper()
	one, two := stack.NodeName(1), stack.NodeName(2)
	await(t, "the operator leads on "+two, func() (bool, string) {
		holder := kubectl(t, "get", "lease", "-n", stack.Namespace, "-o", "jsonpath={.items[*].spec.holderIdentity}")
		on, leader := operators(t, holder)
		switch {
		case on[one] == 1 && on[two] == 1 && leader == two:
			return true, ""
		case on[one]+on[two] != 2:
		case on[two] == 0: // both are on the first Node
			move(t, one, one)
		case on[one] == 0:
			move(t, two, two)
		default: // the leader is on the first Node
			move(t, one, two)
		}
		return false, fmt.Sprintf("the operators are on %v, the leader on %q", on, leader)
	})
}

// operators returns how many ready operators each Node has, and the Node of the leader.
func operators(t *testing.T, holder string) (on map[string]int, leader string) {
	t.Helper()
	var pods corev1.PodList
	if err := world.client.List(t.Context(), &pods, client.InNamespace(stack.Namespace),
		client.MatchingLabels{"app.kubernetes.io/component": "operator"}); err != nil {
		t.Fatal(err)
	}
	on = map[string]int{}
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.DeletionTimestamp != nil || len(p.Status.ContainerStatuses) == 0 || !p.Status.ContainerStatuses[0].Ready {
			continue
		}
		on[p.Spec.NodeName]++
		if strings.Contains(holder, p.Name) {
			leader = p.Spec.NodeName
		}
	}
	return on, leader
}

// move deletes an operator on a Node, and waits until its successor runs, which is not on the closed Node.
func move(t *testing.T, from, closed string) {
	t.Helper()
	kubectl(t, "cordon", closed)
	defer kubectl(t, "uncordon", closed)
	var pods corev1.PodList
	if err := world.client.List(t.Context(), &pods, client.InNamespace(stack.Namespace),
		client.MatchingLabels{"app.kubernetes.io/component": "operator"}); err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName == from {
			_ = world.client.Delete(t.Context(), &pods.Items[i])
			break
		}
	}
	kubectl(t, "rollout", "status", "deployment/portico-operator", "-n", stack.Namespace, "--timeout=60s")
}

// makeWorld makes a third team, and lets the sandbox reach the applications of the others.
func makeWorld(ctx context.Context) error {
	growth := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: "growth"}}
	if err := yaml.Unmarshal(
		[]byte(`{contact: growth@portico.test, members: [{group: "oidc:team-growth", role: Developer}]}`),
		&growth.Spec,
	); err != nil {
		return err
	}
	if err := world.client.Create(ctx, growth); err != nil {
		return err
	}
	for _, name := range []string{"payments", "search"} {
		patch := client.RawPatch(
			"application/merge-patch+json",
			[]byte(`{"spec": {"isolation": {"allowFrom": ["10.200.0.0/24"]}}}`),
		)
		if err := world.client.Patch(
			ctx,
			&v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: name}},
			patch,
		); err != nil {
			return err
		}
	}
	deadline := time.Now().Add(patience)
	for {
		var teams v1alpha1.TeamList
		if err := world.client.List(ctx, &teams); err != nil {
			return err
		}
		ready := 0
		for i := range teams.Items {
			c := meta.FindStatusCondition(teams.Items[i].Status.Conditions, v1alpha1.ConditionReady)
			if c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == teams.Items[i].Generation {
				ready++
			}
		}
		if ready == 3 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of 3 teams are Ready", ready)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
