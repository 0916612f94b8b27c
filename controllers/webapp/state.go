package webapp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// RevisionAnnotation has the number of a version, set by the Deployment controller.
const RevisionAnnotation = "deployment.kubernetes.io/revision"

// Index indexes the Pods and ReplicaSets in the cache by their app, from v1alpha1.LabelWebApp.
const Index = "webapp"

// runtimeState is the observed state of an app, from the cache. It is read-only.
type runtimeState struct {
	deployment appsv1.Deployment // empty, if there is none
	sets       []appsv1.ReplicaSet
	pods       []corev1.Pod
}

// observe reads the state. Versions are sorted newest first, Pods oldest first.
func (r *reconciliation) observe(ctx context.Context) (runtimeState, error) {
	if r.observed != nil {
		return *r.observed, nil
	}
	state, err := r.readState(ctx)
	if err == nil {
		r.observed = &state
	}
	return state, err
}

func (r *reconciliation) readState(ctx context.Context) (runtimeState, error) {
	state := runtimeState{deployment: r.deployment}
	if state.deployment.UID == "" {
		if err := r.readDeployment(ctx, &state.deployment); err != nil {
			return state, err
		}
	}
	if state.deployment.UID == "" {
		return state, nil
	}
	ours := []client.ListOption{
		client.InNamespace(r.app.Namespace),
		client.MatchingFields{Index: r.app.Name},
		client.UnsafeDisableDeepCopy,
	}
	var sets appsv1.ReplicaSetList
	if err := r.Applier.Client.List(ctx, &sets, ours...); err != nil {
		return state, fmt.Errorf("list the ReplicaSets: %w", err)
	}
	for i := range sets.Items {
		if metav1.IsControlledBy(&sets.Items[i], &state.deployment) {
			state.sets = append(state.sets, sets.Items[i])
		}
	}
	slices.SortFunc(state.sets, func(a, b appsv1.ReplicaSet) int {
		return cmp.Or(cmp.Compare(revision(&b), revision(&a)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name))
	})
	state.countSets()
	var pods corev1.PodList
	if err := r.Applier.Client.List(ctx, &pods, ours...); err != nil {
		return state, fmt.Errorf("list the Pods: %w", err)
	}
	state.pods = slices.Clone(pods.Items)
	slices.SortFunc(state.pods, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return state, nil
}

// countSets sets the counts of the status from the ReplicaSets while the Deployment controller has not observed the
// newest generation: its own counts are then those of an earlier template, of which all Pods may be available.
func (s *runtimeState) countSets() {
	d := &s.deployment
	if !s.observed() || d.Status.ObservedGeneration >= d.Generation {
		return
	}
	d.Status.UpdatedReplicas = s.sets[0].Status.Replicas
	d.Status.Replicas, d.Status.AvailableReplicas = 0, 0
	for i := range s.sets {
		d.Status.Replicas += s.sets[i].Status.Replicas
		d.Status.AvailableReplicas += s.sets[i].Status.AvailableReplicas
	}
}

func (r *reconciliation) readDeployment(ctx context.Context, into *appsv1.Deployment) error {
	err := r.Applier.Client.Get(ctx, r.objects.Key(r.app.Name), into)
	if apierrors.IsNotFound(err) || err == nil && !metav1.IsControlledBy(into, r.app) {
		*into = appsv1.Deployment{}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the Deployment: %w", err)
	}
	return nil
}

// revision returns the number of a version; 0 if it has none yet.
func revision(obj client.Object) int64 {
	n, err := strconv.ParseInt(obj.GetAnnotations()[RevisionAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// annotationTemplate has a digest of a ReplicaSet's template, in the cache only, which does not keep the template.
const annotationTemplate = "portico.dev/template-digest"

// templateDigest identifies a template, without the label that only a ReplicaSet's has.
func templateDigest(template *corev1.PodTemplateSpec) string {
	t := template.DeepCopy()
	delete(t.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	data, err := json.Marshal(t)
	if err != nil {
		return "" // a template can always be written
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// observed reports whether the Deployment controller has acted on the template that is wanted now. A generation that it
// has not observed may differ only in the number of Pods, which is no new version.
func (s runtimeState) observed() bool {
	d := &s.deployment
	if d.Status.ObservedGeneration >= d.Generation {
		return true
	}
	return len(s.sets) > 0 && revision(d) == revision(&s.sets[0]) &&
		s.sets[0].Annotations[annotationTemplate] == templateDigest(&d.Spec.Template)
}

// rolledOut reports whether the wanted version replaced those before it: then a Pod that is not available is no
// rollout, but one that is added or replaced.
func (s runtimeState) rolledOut() bool {
	c, d := s.condition(appsv1.DeploymentProgressing), &s.deployment.Status
	return c != nil && c.Reason == newReplicaSetAvailable && d.Replicas == d.UpdatedReplicas && s.observed()
}

// newReplicaSetAvailable is the Deployment controller's reason for a version that is out. It stays until the next one.
const newReplicaSetAvailable = "NewReplicaSetAvailable"

// currentReplicaSet returns the version that the Deployment requests; nil until its controller has created it.
func (s runtimeState) currentReplicaSet() *appsv1.ReplicaSet {
	if len(s.sets) == 0 || !s.observed() || revision(&s.deployment) != revision(&s.sets[0]) {
		return nil
	}
	return &s.sets[0]
}

// podsOf returns the Pods of a version that are neither being deleted nor over: for those see failuresOf.
func (s runtimeState) podsOf(set *appsv1.ReplicaSet) []corev1.Pod {
	var all []corev1.Pod
	for i := range s.pods {
		if metav1.IsControlledBy(&s.pods[i], set) && s.pods[i].DeletionTimestamp == nil &&
			!podcause.Over(&s.pods[i]) {
			all = append(all, s.pods[i])
		}
	}
	return all
}

// available returns how many Pods are available. Pods say sooner than the Deployment that they are ready.
func (s runtimeState) available() int32 {
	return max(s.deployment.Status.AvailableReplicas, s.readyPods())
}

// readyPods returns how many Pods of the wanted version are ready.
func (s runtimeState) readyPods() int32 {
	set, ready := s.currentReplicaSet(), int32(0)
	if set == nil {
		return 0
	}
	for _, pod := range s.podsOf(set) {
		if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			ready++
		}
	}
	return ready
}

// servingImage returns the image of the newest version with a ready Pod.
func (s runtimeState) servingImage() string {
	for i := range s.sets {
		if s.sets[i].Status.AvailableReplicas > 0 {
			return imageOf(&s.sets[i].Spec.Template.Spec)
		}
	}
	return ""
}

// revisions returns the history. A version without a number is omitted. before is the previous history: the cluster
// does not remember which versions served.
func (s runtimeState) revisions(before []v1alpha1.WebAppRevision) []v1alpha1.WebAppRevision {
	var all []v1alpha1.WebAppRevision
	for i := range s.sets {
		set := &s.sets[i]
		n := revision(set)
		if n == 0 || slices.ContainsFunc(all, func(r v1alpha1.WebAppRevision) bool { return r.Revision == n }) {
			continue
		}
		r := v1alpha1.WebAppRevision{
			Revision: n, Image: imageOf(&set.Spec.Template.Spec), Created: set.CreationTimestamp,
			Available: set.Status.AvailableReplicas,
		}
		r.NeverAvailable = r.Available == 0 && neverSeen(r, before, len(all) == 0)
		all = append(all, r)
	}
	return all
}

// neverSeen reports whether no Pod of a version has been seen ready. A rollback gives a version another number and
// keeps its ReplicaSet. Only the newest can be new to us; for older unknown versions the result is false.
func neverSeen(r v1alpha1.WebAppRevision, before []v1alpha1.WebAppRevision, newest bool) bool {
	i := slices.IndexFunc(before, func(b v1alpha1.WebAppRevision) bool {
		return b.Image == r.Image && b.Created.Equal(&r.Created)
	})
	if i < 0 {
		return newest
	}
	return before[i].NeverAvailable
}

func imageOf(pod *corev1.PodSpec) string {
	for i := range pod.Containers {
		if pod.Containers[i].Name == containerName {
			return pod.Containers[i].Image
		}
	}
	return ""
}

// wantedReplicas returns the number of Pods that the Deployment requests.
func (s runtimeState) wantedReplicas() int32 {
	if s.deployment.Spec.Replicas == nil {
		return 1
	}
	return *s.deployment.Spec.Replicas
}
