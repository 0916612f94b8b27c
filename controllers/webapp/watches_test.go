package webapp

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/steps/stepstest"
	"github.com/portico-platform/portico/controllers/watch"
)

func TestTheCacheKeepsNoMoreThanIsLookedAt(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "app"}}}}
	pod.Labels, pod.Annotations, pod.ManagedFields = map[string]string{"a": "b"}, map[string]string{"a": "b"},
		[]metav1.ManagedFieldsEntry{{}}
	set := &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{
			{Name: "app", Image: "a", Env: []corev1.EnvVar{{Name: "SECRET", Value: "hunter2"}}},
		}, NodeName: "x",
	}}}}
	set.Annotations = map[string]string{RevisionAnnotation: "3"}
	for _, in := range []any{pod, set, &corev1.Service{}} {
		if out, err := stripUnused(in); err != nil || out != in {
			t.Errorf("%T: %v, %v", in, out, err)
		}
	}
	if pod.Labels["a"] != "b" || pod.Annotations != nil || pod.ManagedFields != nil {
		t.Errorf("metadata of the Pod = %+v, want the labels only", pod.ObjectMeta)
	}
	if pod.Spec.NodeName != "n1" || pod.Spec.Containers != nil {
		t.Errorf("spec of the Pod = %+v, want the node n1 only", pod.Spec)
	}
	c := set.Spec.Template.Spec.Containers
	if diff := cmp.Diff([]corev1.Container{{Name: "app", Image: "a"}}, c); diff != "" {
		t.Errorf("containers of the ReplicaSet (-want +got):\n%s", diff)
	}
	if set.Annotations[RevisionAnnotation] != "3" || set.Spec.Template.Spec.NodeName != "" {
		t.Errorf("revision = %q, NodeName = %q; want 3, none", set.Annotations[RevisionAnnotation],
			set.Spec.Template.Spec.NodeName)
	}
	for obj, by := range CachedObjects() {
		if by.Label == nil || by.Label.Matches(labelled{}) ||
			!by.Label.Matches(labelled{apply.Label: apply.LabelValue}) {
			t.Errorf("the cache of %T is not of our label: %v", obj, by.Label)
		}
	}
}

func TestStrippingTwiceKeepsTheDigestOfTheTemplate(t *testing.T) {
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{Name: "app", Image: "a"}},
	}}
	set := &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: *template.DeepCopy()}}
	set.Annotations = map[string]string{RevisionAnnotation: "3", annotationTemplate: "written by somebody"}
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n1", InitContainers: []corev1.Container{
		{Name: "mesh", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), Image: "m"},
	}}}
	var once []any
	for i := range 2 {
		for _, in := range []any{set, pod} {
			if _, err := stripUnused(in); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := set.Annotations[annotationTemplate], templateDigest(&template); got != want {
			t.Errorf("stripped %d times, the digest is %q, want %q", i+1, got, want)
		}
		if i == 0 {
			once = []any{set.DeepCopy(), pod.DeepCopy()}
		}
	}
	if diff := cmp.Diff(once, []any{set, pod}); diff != "" {
		t.Errorf("the second time changes (-once +twice):\n%s", diff)
	}
}

type labelled map[string]string

func (l labelled) Has(name string) bool              { _, ok := l[name]; return ok }
func (l labelled) Get(name string) string            { return l[name] }
func (l labelled) Lookup(name string) (string, bool) { v, ok := l[name]; return v, ok }

func TestWhatWakesAWebApp(t *testing.T) {
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{}
		change(p)
		return p
	}
	set := func(change func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
		s := &appsv1.ReplicaSet{}
		change(s)
		return s
	}
	queue := func(change func(*v1alpha1.SQSQueue)) *v1alpha1.SQSQueue {
		q := &v1alpha1.SQSQueue{}
		change(q)
		return q
	}
	for name, row := range map[string]struct {
		predicate predicate.Predicate
		was, is   client.Object
		want      bool
	}{
		"a Pod's status":              {podStatusChanged(), &corev1.Pod{}, pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }), true},
		"a Pod's label":               {podStatusChanged(), &corev1.Pod{}, pod(func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }), false},
		"Pods that serve":             {replicaSetChanged(), &appsv1.ReplicaSet{}, set(func(s *appsv1.ReplicaSet) { s.Status.AvailableReplicas = 1 }), true},
		"Pods that do not yet":        {replicaSetChanged(), &appsv1.ReplicaSet{}, set(func(s *appsv1.ReplicaSet) { s.Status.Replicas = 1 }), false},
		"a version's number":          {replicaSetChanged(), &appsv1.ReplicaSet{}, set(func(s *appsv1.ReplicaSet) { s.Annotations = map[string]string{RevisionAnnotation: "2"} }), true},
		"Pods that are refused":       {replicaSetChanged(), &appsv1.ReplicaSet{}, set(func(s *appsv1.ReplicaSet) { s.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: "x"}} }), true},
		"a binding that is Ready":     {bindingChanged(), &v1alpha1.SQSQueue{}, queue(func(q *v1alpha1.SQSQueue) { q.Status.Ready = true }), true},
		"new details":                 {bindingChanged(), &v1alpha1.SQSQueue{}, queue(func(q *v1alpha1.SQSQueue) { q.Status.Binding = &v1alpha1.Binding{Name: "x"} }), true},
		"a binding that leaves":       {bindingChanged(), &v1alpha1.SQSQueue{}, queue(func(q *v1alpha1.SQSQueue) { q.DeletionTimestamp = &metav1.Time{} }), false},
		"a binding's spec":            {bindingChanged(), &v1alpha1.SQSQueue{}, queue(func(q *v1alpha1.SQSQueue) { q.Generation = 2 }), false},
		"a status of an owned object": {watch.SpecChanged(), pod(func(p *corev1.Pod) { p.ResourceVersion = "1" }), pod(func(p *corev1.Pod) { p.ResourceVersion, p.Status.Phase = "2", "x" }), false},
		"a label of an owned object":  {watch.SpecChanged(), &corev1.Pod{}, pod(func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }), true},
		"an owner taken away":         {watch.SpecChanged(), pod(func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{UID: "1"}} }), &corev1.Pod{}, true},
		"an autoscaler's limits": {
			watch.SpecChanged(), &autoscalingv2.HorizontalPodAutoscaler{},
			&autoscalingv2.HorizontalPodAutoscaler{
				Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 9},
			}, true,
		},
		"an autoscaler's status": {
			watch.SpecChanged(), &autoscalingv2.HorizontalPodAutoscaler{},
			&autoscalingv2.HorizontalPodAutoscaler{
				Status: autoscalingv2.HorizontalPodAutoscalerStatus{DesiredReplicas: 9},
			}, false,
		},
		"an edit of an owned object": {watch.NotCreated(), &corev1.Pod{}, &corev1.Pod{}, true},
	} {
		if got := row.predicate.Update(event.UpdateEvent{ObjectOld: row.was, ObjectNew: row.is}); got != row.want {
			t.Errorf("%s: wakes %v", name, got)
		}
	}
	for name, row := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"a Pod that failed": {pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), true},
		"a Pod that serves": {pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }), false},
	} {
		if got := failuresGo().Delete(event.DeleteEvent{Object: row.pod}); got != row.want {
			t.Errorf("the deletion of %s: wakes %v, want %v", name, got, row.want)
		}
	}
	leaving := queue(func(q *v1alpha1.SQSQueue) { now := metav1.Now(); q.DeletionTimestamp = &now })
	if !bindingChanged().Update(event.UpdateEvent{ObjectOld: &v1alpha1.SQSQueue{}, ObjectNew: leaving}) {
		t.Error("a binding that is being deleted wakes nobody")
	}
	if watch.NotCreated().Create(event.CreateEvent{}) || !watch.NotCreated().Delete(event.DeleteEvent{}) {
		t.Error("what is new wakes, or what is deleted does not")
	}
}

func TestIndexes(t *testing.T) {
	pod := &corev1.Pod{}
	if got := appOf(pod); got != nil {
		t.Errorf("a Pod of no app is of %q", got)
	}
	pod.Labels = map[string]string{v1alpha1.LabelWebApp: "shop"}
	if got := appOf(pod); !slices.Equal(got, []string{"shop"}) {
		t.Errorf("a Pod is of %q", got)
	}
}

// manager is a manager that has only a client.
type manager struct {
	ctrl.Manager
	client client.Client
}

func (m manager) GetClient() client.Client { return m.client }

func TestWhatAWebAppIsBoundTo(t *testing.T) {
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	c := stepstest.NewCluster(s, nil)
	queue := &v1alpha1.SQSQueue{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "orders", Finalizers: []string{"example.com/wait"}},
	}
	queue.Status.Binding = &v1alpha1.Binding{Name: "orders-binding"}
	queue.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Message: "being made"}}
	if err := c.Create(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	find := boundIn(manager{client: c.Client()}, map[string]client.Object{
		v1alpha1.KindS3Bucket: &v1alpha1.S3Bucket{}, v1alpha1.KindSQSQueue: &v1alpha1.SQSQueue{},
	})
	got, err := find(t.Context(), "SQSQueue", "n", "orders")
	if err != nil || !got.Found || got.State != "being made" {
		t.Fatalf("found = %v, State = %q, %v; want being made", got.Found, got.State, err)
	}
	if got.Deleting || got.Ready || got.Binding.Name != "orders-binding" {
		t.Errorf("Deleting = %v, Ready = %v, binding %q; want neither, and orders-binding",
			got.Deleting, got.Ready, got.Binding.Name)
	}
	for _, other := range [][3]string{
		{"S3Bucket", "n", "orders"},
		{"SQSQueue", "other", "orders"},
		{"Unknown", "n", "orders"},
	} {
		if got, err := find(t.Context(), other[0], other[1], other[2]); err != nil || got.Found {
			t.Errorf("%v: %+v, %v", other, got, err)
		}
	}
	if err := c.Others.Delete(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	if got, err := find(t.Context(), "SQSQueue", "n", "orders"); err != nil || !got.Found || !got.Deleting {
		t.Errorf("being deleted: %+v, %v", got, err)
	}
	c.Before = func(stepstest.Call) error { return errors.New("boom") }
	if got, err := find(t.Context(), "SQSQueue", "n", "orders"); err == nil || got.Found {
		t.Errorf("an error is taken for %+v", got)
	}
}
