package webapp_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/steps/stepstest"
	"github.com/portico-platform/portico/controllers/webapp"
)

// life is an app in a cluster, and the last pass over it.
type life struct {
	*stepstest.Cluster
	t    *testing.T
	app  app
	pass *engine.Pass
}

func begin(t *testing.T, a app) *life {
	t.Helper()
	l := &life{Cluster: stepstest.NewCluster(schemeOf(t), indexed), t: t, app: a}
	if err := l.Create(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return l
}

// sync reconciles once, without the engine.
func (l *life) sync() error {
	l.t.Helper()
	return l.with(work(l.Cluster).(webapp.Reconciler))
}

// with reconciles with rec, and writes the conditions to the status as the engine does.
func (l *life) with(rec webapp.Reconciler) error {
	l.t.Helper()
	l.pass = engine.NewPass(nil)
	err := rec.Reconcile(l.t.Context(), l.app, l.pass)
	for _, kind := range []string{
		v1alpha1.StepServiceAccount, v1alpha1.StepService, v1alpha1.StepRoute, v1alpha1.StepBindings,
		v1alpha1.StepDeployment, v1alpha1.StepScaled, v1alpha1.StepRolledOut, v1alpha1.StepExposed,
	} {
		if status, reason, text := l.pass.Condition(kind); status != "" {
			meta.SetStatusCondition(&l.app.Status.Conditions,
				metav1.Condition{
					Type: kind, Status: status, Reason: reason, Message: text,
					ObservedGeneration: l.app.Generation,
				})
		}
	}
	return err
}

// told returns a condition of the status as one string.
func (l *life) told(kind string) string {
	c := meta.FindStatusCondition(l.app.Status.Conditions, kind)
	if c == nil {
		return ""
	}
	return strings.TrimSpace(string(c.Status) + " " + c.Reason + " " + c.Message)
}

// is checks the outcome's reason and text.
func (l *life) is(err error, reason, text string) {
	l.t.Helper()
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != reason || err.Error() != text {
		l.t.Errorf("outcome %v, want %s: %s", err, reason, text)
	}
}

// marked returns a condition of the last pass as one string.
func (l *life) marked(kind string) string {
	status, reason, text := l.pass.Condition(kind)
	return strings.TrimSpace(string(status) + " " + reason + " " + text)
}

func (l *life) deployment() *appsv1.Deployment {
	l.t.Helper()
	d := &appsv1.Deployment{}
	if err := l.Others.Get(l.t.Context(), client.ObjectKeyFromObject(l.app), d); err != nil {
		l.t.Fatal(err)
	}
	return d
}

// controller sets the Deployment's status and revision, as the Deployment controller does.
func (l *life) controller(revision string, status appsv1.DeploymentStatus) {
	l.t.Helper()
	d := l.deployment()
	before := d.DeepCopy()
	d.Annotations["deployment.kubernetes.io/revision"] = revision
	if err := l.Others.Patch(l.t.Context(), d, client.MergeFrom(before)); err != nil {
		l.t.Fatal(err)
	}
	before = d.DeepCopy()
	d.Status = status
	if err := l.Others.Status().Patch(l.t.Context(), d, client.MergeFrom(before)); err != nil {
		l.t.Fatal(err)
	}
}

func owner(uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "x", Name: "x", UID: uid, Controller: new(true)}}
}

func (l *life) version(name, revision, image string, available int32) *appsv1.ReplicaSet {
	l.t.Helper()
	set := &appsv1.ReplicaSet{ObjectMeta: at(name), Status: appsv1.ReplicaSetStatus{AvailableReplicas: available}}
	set.Labels, set.OwnerReferences = map[string]string{v1alpha1.LabelWebApp: "shop"}, owner(l.deployment().UID)
	set.Annotations = map[string]string{"deployment.kubernetes.io/revision": revision}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: image}}
	if err := l.Create(l.t.Context(), set); err != nil {
		l.t.Fatal(err)
	}
	return set
}

func (l *life) pod(set *appsv1.ReplicaSet, status corev1.ContainerStatus) {
	l.t.Helper()
	pod := &corev1.Pod{ObjectMeta: at(set.Name + "-1"), Status: corev1.PodStatus{
		ContainerStatuses: []corev1.ContainerStatus{status},
	}}
	pod.Labels, pod.OwnerReferences = map[string]string{v1alpha1.LabelWebApp: "shop"}, owner(set.UID)
	if err := l.Create(l.t.Context(), pod); err != nil {
		l.t.Fatal(err)
	}
}

func TestARolloutThatHangsIsExplained(t *testing.T) {
	l := begin(t, shop(nil))
	l.is(l.sync(), "RollingOut", "0 of 1 replica updated")
	if got := l.marked("Progressing"); got != "True RollingOut 0 of 1 replica updated" {
		t.Errorf("Progressing is %q", got)
	}
	s := l.app.Status
	got := []string{s.URL, s.Availability, s.Image, s.Selector}
	if want := []string{"http://shop.payments.svc", "0/1", "", "portico.dev/webapp=shop"}; !slices.Equal(got, want) {
		t.Errorf("URL, Availability, Image, Selector = %q, want %q", got, want)
	}
	l.version("shop-1", "1", "registry.example.com/shop:0.9.0", 1)
	next := l.version("shop-2", "2", l.app.Spec.Image, 0)
	l.version("foreign", "9", "evil", 1)
	foreign := &appsv1.ReplicaSet{ObjectMeta: at("foreign")}
	if err := l.Others.Patch(t.Context(), foreign,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`))); err != nil {
		t.Fatal(err)
	}
	available := appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}
	l.controller("2", appsv1.DeploymentStatus{
		Replicas: 2, UpdatedReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{available},
	})
	l.pod(next, corev1.ContainerStatus{
		Name: "app", RestartCount: 1, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 1, Message: "no database\n", StartedAt: metav1.Unix(10, 0), FinishedAt: metav1.Unix(15, 0),
			},
		},
	})
	const text = "1 replica updated, 1 old to go; the container app of Pod shop-2-1 exits with code 1, again and " +
		"again; read its log: kubectl logs -n payments shop-2-1 -c app --previous; registry.example.com/shop:0.9.0 " +
		"still serves"
	l.is(l.sync(), "CrashLoopBackOff", text)
	if l.app.Status.Image != "registry.example.com/shop:0.9.0" || len(l.app.Status.Revisions) != 2 ||
		l.app.Status.Revisions[0].Revision != 2 {
		t.Errorf("status %+v", l.app.Status)
	}
	if got := l.marked("Available"); got != "True MinimumReplicasAvailable 1 of 1 replicas available" {
		t.Errorf("Available is %q", got)
	}
	if got := l.marked("Progressing"); got != "False CrashLoopBackOff "+text {
		t.Errorf("Progressing is %q", got)
	}
}

func TestARolloutWithoutProgressIsOverdue(t *testing.T) {
	l := begin(t, shop(nil))
	_ = l.sync()
	hangs := appsv1.DeploymentCondition{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse,
		Reason: "ProgressDeadlineExceeded",
	}
	l.controller("1", appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, Conditions: []appsv1.DeploymentCondition{
		hangs,
	}})
	l.is(l.sync(), "ProgressDeadlineExceeded", "no progress in 300 seconds: 0 of 1 replica available")
	if got := l.marked("Available"); got != "False MinimumReplicasUnavailable 0 of 1 replicas available" {
		t.Errorf("Available is %q", got)
	}
}

func TestWhatHoldsUpTheDeploymentItselfIsTold(t *testing.T) {
	refused := appsv1.DeploymentCondition{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ReplicaSetCreateError",
		Message: `failed to create new replica set "shop-1": replicasets.apps "shop-1" is forbidden: exceeded quota: few, requested: count/replicasets.apps=1, used: 1, limited: 1`,
	}
	overdue := appsv1.DeploymentCondition{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse,
		Reason: "ProgressDeadlineExceeded",
	}
	for name, row := range map[string]struct {
		change       func(*appsv1.Deployment)
		reason, text string
	}{
		"a quota that has no room for a version": {
			func(d *appsv1.Deployment) { d.Status.Conditions = []appsv1.DeploymentCondition{refused} }, "QuotaExceeded",
			"0 of 1 replica updated; the quota of the namespace is used up: few, requested: " +
				"count/replicasets.apps=1, used: 1, limited: 1",
		},
		"somebody has paused it": {
			func(d *appsv1.Deployment) { d.Spec.Paused = true }, "DeploymentPaused",
			"0 of 1 replica updated; the Deployment is paused: kubectl rollout resume deployment/shop lets it go on",
		},
		"what hung was the version before": {
			func(d *appsv1.Deployment) {
				d.Status.Conditions, d.Generation, d.Status.ObservedGeneration = []appsv1.DeploymentCondition{overdue},
					2, 1
			}, "RollingOut", "the new version is being prepared",
		},
		"what was refused was the version before": {
			func(d *appsv1.Deployment) {
				d.Status.Conditions, d.Generation, d.Status.ObservedGeneration = []appsv1.DeploymentCondition{refused},
					2, 1
			}, "RollingOut", "the new version is being prepared",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := begin(t, shop(nil))
			_ = l.sync()
			d := l.deployment()
			before := d.DeepCopy()
			row.change(d)
			if err := l.Others.Patch(t.Context(), d.DeepCopy(), client.MergeFrom(before)); err != nil {
				t.Fatal(err)
			}
			l.controller("1", d.Status)
			l.is(l.sync(), row.reason, row.text)
		})
	}
}

func TestListsThatFailAreNotEmpty(t *testing.T) {
	for _, kind := range []string{"ReplicaSetList", "PodList"} {
		l := begin(t, shop(nil))
		_ = l.sync()
		rollOut(t, l.Cluster)
		if err := l.sync(); err != nil {
			t.Fatal(err)
		}
		image, history := l.app.Status.Image, len(l.app.Status.Revisions)
		boom := errors.New("boom")
		l.Before = func(c stepstest.Call) error {
			if c.Verb == "list" && c.Kind == kind {
				return boom
			}
			return nil
		}
		if err := l.sync(); !errors.Is(err, boom) || l.app.Status.Image != image ||
			len(l.app.Status.Revisions) != history {
			t.Errorf("%s: %v, status %+v", kind, err, l.app.Status)
		}
	}
}

func TestAStatusIsReportedEvenIfAnEarlyStepFails(t *testing.T) {
	l := begin(t, shop(nil))
	_ = l.sync()
	rollOut(t, l.Cluster)
	l.Before = func(c stepstest.Call) error {
		if c.Kind == "Service" {
			return errors.New("boom")
		}
		return nil
	}
	if err := l.sync(); err == nil || l.app.Status.Availability != "1/1" ||
		l.app.Status.URL != "http://shop.payments.svc" {
		t.Errorf("%v, status %+v", err, l.app.Status)
	}
	if got := l.told(v1alpha1.StepDeployment); got != "True Done the Deployment asks for "+
		"registry.example.com/shop:1.0.0" {
		t.Errorf("a later step is %q", got)
	}
	l.app.Generation++
	if _ = l.sync(); l.told(v1alpha1.StepDeployment) != "Unknown Waiting waiting for ServiceReady" {
		t.Errorf("a later step that has not seen this spec is %q", l.told(v1alpha1.StepDeployment))
	}
}

func TestTheURLStaysWhileItIsNotLookedAt(t *testing.T) {
	l := begin(t, shop(nil))
	_ = l.sync()
	l.Before = func(c stepstest.Call) error {
		if c.Kind == "ServiceAccount" {
			return errors.New("boom")
		}
		return nil
	}
	if err := l.sync(); err == nil || l.app.Status.URL != "http://shop.payments.svc" {
		t.Errorf("%v, URL %q", err, l.app.Status.URL)
	}
}
