//go:build integration

package integration

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// If Pods cannot run, the message has the cause, from the most specific object that knows it.
func TestAWebAppThatHangsSaysWhy(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	for _, row := range []struct {
		name, image, reason string
		change              func(*v1alpha1.WebAppSpec)
		words               []string
	}{
		{"crash", "broken-crash", "CrashLoopBackOff", nil, []string{"exits with code 1", "read its log: kubectl logs"}},
		{"memory", "broken-memory", "OOMKilled", nil, []string{"more memory than its limit"}},
		{"pull", "broken-pull", "ImagePullBackOff", nil, []string{"broken-pull:1.0.0 cannot be pulled", "not found"}},
		{"root", "broken-root", "CreateContainerConfigError", nil, []string{"will run as root", "USER"}},
		{"secret", "broken-secret", "CreateContainerConfigError", func(s *v1alpha1.WebAppSpec) {
			s.EnvFrom = []v1alpha1.WebAppEnvFrom{{SecretRef: &v1alpha1.LocalRef{Name: "stripe"}}}
		}, []string{`secret "stripe" not found`}},
		{"readiness", "broken-readiness", "RollingOut", nil, []string{"readiness probe does not succeed", "TCP connection to port 8080"}},
		{"startup", "broken-startup", "ProbeFailing", func(s *v1alpha1.WebAppSpec) {
			s.Probes = &v1alpha1.WebAppProbes{Startup: &v1alpha1.WebAppProbe{PeriodSeconds: 1, FailureThreshold: 2}}
		}, []string{"stopped again and again, because its startup probe fails", "TCP connection to port 8080"}},
		{"disk", "broken-disk", "Evicted", nil, []string{"evicted again and again", `volume "tmp" exceeds the limit "1Gi"`}},
		{"large", "shop", "Unschedulable", func(s *v1alpha1.WebAppSpec) {
			s.Resources = &v1alpha1.WebAppResources{
				Requests: &v1alpha1.WebAppQuantities{Memory: new(resource.MustParse("3Ti"))},
			}
		}, []string{"no node takes a Pod", "Insufficient memory"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			app := appOf(ns, row.name)
			app.Spec.Image = "registry.example.com/" + row.image + ":1.0.0"
			if row.change != nil {
				row.change(&app.Spec)
			}
			create(t, c, app)
			await(t, row.reason+" with "+strings.Join(row.words, ", "), func() (bool, string) {
				got := readyNow(t, c, app)
				return got.Reason == row.reason && containsAll(got.Message, row.words), got.Reason + ": " + got.Message
			})
			if got := readyNow(t, c, app); strings.Contains(got.Message, string(app.UID)) {
				t.Errorf("the message %q changes from Pod to Pod", got.Message)
			}
			saysNoOutput(t, c, app)
		})
	}
}

// saysNoOutput checks that statuses and events contain no output of the application: permission to view a web app does
// not include its log.
func saysNoOutput(t *testing.T, c client.Client, app *v1alpha1.WebApp) {
	t.Helper()
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace(app.Namespace), client.MatchingLabels{
		v1alpha1.LabelWebApp: app.Name,
	}); err != nil {
		t.Fatal(err)
	}
	said := eventsOf(t, c, app)
	for _, condition := range app.Status.Conditions {
		said = append(said, condition.Message)
	}
	for i := range pods.Items {
		for _, status := range pods.Items[i].Status.ContainerStatuses {
			for _, end := range []*corev1.ContainerStateTerminated{
				status.State.Terminated, status.LastTerminationState.Terminated,
			} {
				if end == nil || end.Reason != "Error" {
					continue
				}
				for line := range strings.Lines(end.Message) {
					if line = strings.TrimSpace(line); line != "" && strings.Contains(strings.Join(said, "\n"), line) {
						t.Errorf("the status or an event tells what the application wrote: %s", line)
					}
				}
			}
		}
	}
}

// kubectl runs kubectl as an admin, and returns its output.
func kubectl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "../../bin/kubectl",
		append([]string{"--kubeconfig=" + world.AdminKubeconfig}, args...)...).CombinedOutput()
	return string(out), err
}

func readyNow(t *testing.T, c client.Client, app *v1alpha1.WebApp) metav1.Condition {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil {
		t.Fatal(err)
	}
	if found := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionReady); found != nil {
		return *found
	}
	return metav1.Condition{}
}

// A bad image does not replace the good one, and one annotation rolls back.
func TestTheLastGoodVersionServesUntilTheRollback(t *testing.T) {
	c := withOperator(t)
	app := appOf(team(t, c), "shop")
	app.Spec.Replicas = new(int32(2))
	good := app.Spec.Image
	createReady(t, c, app)
	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Spec.Image = "registry.example.com/broken-pull:2.0.0" })
	got := reason(t, c, app, "ImagePullBackOff")
	if app.Status.Image != good || app.Status.AvailableReplicas != 2 ||
		!strings.Contains(got.Message, good+" still serves") {
		t.Errorf("%s serves with %d Pods; %s", app.Status.Image, app.Status.AvailableReplicas, got.Message)
	}
	if c := conditionOf(app, v1alpha1.ConditionAvailable); c.Status != metav1.ConditionTrue {
		t.Errorf("Available is %+v", c)
	}
	if c := conditionOf(app, v1alpha1.ConditionProgressing); c.Status != metav1.ConditionFalse ||
		c.Reason != "ImagePullBackOff" {
		t.Errorf("Progressing is %+v", c)
	}

	annotate(t, c, app, v1alpha1.AnnotationRollback, "17")
	awaitEvent(t, c, app, "RollbackImpossible", "no revision 17", "nothing was changed")
	annotate(t, c, app, v1alpha1.AnnotationRollback, v1alpha1.RollbackPrevious)
	awaitEvent(t, c, app, "RolledBack", good)
	ready(t, c, app)
	if app.Spec.Image != good || app.Annotations[v1alpha1.AnnotationRollback] != "" {
		t.Errorf("image %s, annotations %v", app.Spec.Image, app.Annotations)
	}
}

func TestTheQuotaOfANamespaceIsNamed(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	quota := &corev1.ResourceQuota{ObjectMeta: meta1(ns, "tiny"), Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{"pods": resource.MustParse("1")},
	}}
	create(t, c, quota)
	await(t, "the quota to be counted", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(quota), quota)
		return err == nil && len(quota.Status.Hard) > 0, "not yet"
	})
	app := appOf(ns, "shop")
	app.Spec.Replicas = new(int32(2))
	create(t, c, app)
	got := reason(t, c, app, "QuotaExceeded")
	if !containsAll(got.Message, []string{"quota of the namespace is used up", "tiny", "pods=1"}) ||
		strings.Contains(got.Message, `pods "shop`) {
		t.Errorf("message %q", got.Message)
	}
}

func TestAWebAppIsScaledByKubectl(t *testing.T) {
	c := withOperator(t)
	app := appOf(team(t, c), "shop")
	createReady(t, c, app)
	out, err := kubectl(t, "scale", "-n", app.Namespace, "wa/shop", "--replicas=3")
	if err != nil {
		t.Fatal(out)
	}
	await(t, "3 of 3", func() (bool, string) {
		readyNow(t, c, app)
		return app.Status.Availability == "3/3" && app.Status.Ready, app.Status.Availability
	})
	if out, err := kubectl(t, "scale", "-n", app.Namespace, "wa/shop", "--replicas=11"); err == nil ||
		!strings.Contains(out, "less than or equal to 10") {
		t.Errorf("11 replicas: %s", out)
	}
	out, err = kubectl(t, "get", "-n", app.Namespace, "wa")
	if err != nil || !containsAll(out, []string{"AVAILABLE", "3/3", app.Spec.Image, "http://shop."}) {
		t.Errorf("kubectl get: %s", out)
	}
	annotate(t, c, app, v1alpha1.AnnotationRestartRequestedAt, "2026-01-02T03:04:05Z")
	await(t, "the Pods to be replaced", func() (bool, string) {
		d := child(t, c, app, &appsv1.Deployment{})
		return d.Annotations["deployment.kubernetes.io/revision"] == "2",
			d.Annotations["deployment.kubernetes.io/revision"]
	})
	ready(t, c, app)
}

// A rollout waits for the bound resources, and new connection details replace the Pods.
func TestABindingIsWaitedForAndInjected(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	app := appOf(ns, "shop")
	app.Spec.Bindings = []v1alpha1.WebAppBinding{
		{Kind: "SQSQueue", Name: "orders"},
		{Kind: "S3Bucket", Name: "receipts", Prefix: "FILES"},
	}
	create(t, c, app)
	if got := reason(t, c, app, "BindingNotFound"); !containsAll(
		got.Message, []string{"no SQSQueue orders", "request it"}) {
		t.Errorf("message %q", got.Message)
	}
	q := queueOf(ns, "orders")
	q.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	create(t, c, q)
	reason(t, c, app, "WaitingForBinding")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(app), &appsv1.Deployment{}); err == nil {
		t.Error("the Deployment did not wait")
	}
	create(t, c, bucketOf(ns, "receipts"))
	edit(t, c, q, func(q *v1alpha1.SQSQueue) { q.Annotations = nil })
	ready(t, c, app)
	d := child(t, c, app, &appsv1.Deployment{})
	env := map[string]*corev1.EnvVarSource{}
	for _, v := range d.Spec.Template.Spec.Containers[0].Env {
		env[v.Name] = v.ValueFrom
	}
	if s := env["ORDERS_URL"]; s == nil || s.SecretKeyRef.Name != "orders-sqsqueue-binding" ||
		s.SecretKeyRef.Key != "url" {
		t.Errorf("ORDERS_URL comes from %+v", s)
	}
	if env["FILES_BUCKET"] == nil || env["FILES_ARN"] == nil {
		t.Errorf("the bucket's variables are missing: %v", env)
	}

	// Somebody changes the Secret: it is repaired, and Pods that may have read it are replaced.
	before := d.Spec.Template.Annotations["portico.dev/bindings-checksum"]
	edit(t, c, &corev1.Secret{ObjectMeta: meta1(ns, "orders-sqsqueue-binding")}, func(s *corev1.Secret) {
		s.Data["url"] = []byte("http://evil.example.com")
	})
	wakeNow(t, c, q)
	// The change and its repair each start a rollout: the second one must be under way before the steps below.
	await(t, "the repaired Secret to be in the Pods", func() (bool, string) {
		secret := corev1.Secret{}
		key := client.ObjectKey{Namespace: ns, Name: "orders-sqsqueue-binding"}
		if err := c.Get(t.Context(), key, &secret); err != nil {
			return false, err.Error()
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil {
			return false, err.Error()
		}
		used := slices.ContainsFunc(app.Status.Bindings, func(b v1alpha1.WebAppBound) bool {
			return b.Secret == secret.Name && b.ResourceVersion == secret.ResourceVersion
		})
		return used && string(secret.Data["url"]) != "http://evil.example.com", string(secret.Data["url"])
	})
	d = child(t, c, app, &appsv1.Deployment{})
	if d.Spec.Template.Annotations["portico.dev/bindings-checksum"] == before {
		t.Error("the Pods were not replaced")
	}
	// Ready may still be from before; only with a new generation is it certainly for the current rollout.
	edit(t, c, app, func(app *v1alpha1.WebApp) { app.Spec.Image = "registry.example.com/shop:1.0.1" })
	ready(t, c, app)
	collect(t, c, q)
	reason(t, c, app, "BindingNotFound")
	if app.Status.AvailableReplicas != 1 || app.Status.Image != app.Spec.Image {
		t.Errorf("the application should still serve: %+v", app.Status)
	}
	for _, step := range []string{v1alpha1.StepDeployment, v1alpha1.StepRolledOut} {
		if !meta.IsStatusConditionTrue(app.Status.Conditions, step) {
			t.Errorf("%s should stay as it is known: %+v", step, app.Status.Conditions)
		}
	}
}
