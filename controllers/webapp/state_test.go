package webapp

import (
	"slices"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func owner(uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{UID: uid, Controller: new(true)}}
}

// version returns a ReplicaSet whose UID is its name.
func version(name string, revision int, image string, available int32) appsv1.ReplicaSet {
	set := appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), OwnerReferences: owner("d")},
	}
	if revision > 0 {
		set.Annotations = map[string]string{RevisionAnnotation: strconv.Itoa(revision)}
	}
	set.Spec.Template.Spec.Containers = []corev1.Container{
		{Name: "proxy", Image: "proxy:1"}, {Name: containerName, Image: image},
	}
	set.Status.AvailableReplicas = available
	return set
}

func podOf(set, name string, all ...corev1.ContainerStatus) corev1.Pod {
	pod := podWith(all...)
	pod.Name, pod.OwnerReferences = name, owner(types.UID(set))
	return *pod
}

// pictureOf returns a runtimeState of these versions, the newest first.
func pictureOf(sets ...appsv1.ReplicaSet) runtimeState {
	p := runtimeState{sets: sets}
	p.deployment.UID = "d"
	if len(sets) > 0 {
		p.deployment.Annotations = map[string]string{RevisionAnnotation: sets[0].Annotations[RevisionAnnotation]}
	}
	return p
}

func TestProgress(t *testing.T) {
	for name, row := range map[string]struct {
		wanted     *int32
		generation int64
		status     appsv1.DeploymentStatus
		text       string
		complete   bool
	}{
		"not seen by the controller": {
			generation: 2, status: appsv1.DeploymentStatus{
				ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1,
				AvailableReplicas: 1,
			}, text: "the new version is being prepared",
		},
		"none is updated":       {wanted: new(int32(3)), status: appsv1.DeploymentStatus{Replicas: 3, AvailableReplicas: 3}, text: "0 of 3 replicas updated"},
		"one is asked for":      {status: appsv1.DeploymentStatus{}, text: "0 of 1 replica updated"},
		"old ones are left":     {wanted: new(int32(2)), status: appsv1.DeploymentStatus{Replicas: 3, UpdatedReplicas: 2, AvailableReplicas: 3}, text: "2 replicas updated, 1 old to go"},
		"not all are available": {wanted: new(int32(2)), status: appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1}, text: "1 of 2 replicas available"},
		"complete":              {wanted: new(int32(2)), status: appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, complete: true},
		"none is asked for":     {wanted: new(int32(0)), complete: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := runtimeState{}
			p.deployment.Generation, p.deployment.Spec.Replicas, p.deployment.Status = row.generation, row.wanted,
				row.status
			if text, complete := p.progress(); text != row.text || complete != row.complete {
				t.Errorf("%q, %v", text, complete)
			}
		})
	}
}

// A new version has a ReplicaSet before the Deployment's status counts it: the counts of the old version, all of whose
// Pods are available, must not complete the new one.
func TestCountsOfTheVersionBeforeCompleteNothing(t *testing.T) {
	fresh, old := version("b", 2, "new", 0), version("a", 1, "old", 1)
	old.Status.Replicas = 1
	state := pictureOf(fresh, old)
	d := &state.deployment
	d.Generation, d.Status = 2, appsv1.DeploymentStatus{
		ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Reason: newReplicaSetAvailable}},
	}
	state.sets[0].Annotations[annotationTemplate] = templateDigest(&d.Spec.Template)
	before := state
	if before.countSets(); before.deployment.Status.UpdatedReplicas != 0 {
		t.Errorf("%+v", before.deployment.Status)
	}
	if text, complete := before.progress(); complete || before.rolledOut() || text != "0 of 1 replica updated" {
		t.Errorf("%q, %v", text, complete)
	}
	state.sets[0].Status.Replicas, state.sets[0].Status.AvailableReplicas = 1, 1
	state.sets[1].Status = appsv1.ReplicaSetStatus{}
	state.countSets()
	if text, complete := state.progress(); !complete || !state.rolledOut() {
		t.Errorf("%q, %v", text, complete)
	}
}

func TestServingIsTheNewestVersionWithAPodThatServes(t *testing.T) {
	for name, row := range map[string]struct {
		sets []appsv1.ReplicaSet
		want string
	}{
		"nothing runs":          {},
		"the new one serves":    {[]appsv1.ReplicaSet{version("b", 2, "new", 1), version("a", 1, "old", 1)}, "new"},
		"only the old one does": {[]appsv1.ReplicaSet{version("b", 2, "new", 0), version("a", 1, "old", 1)}, "old"},
		"none does":             {[]appsv1.ReplicaSet{version("b", 2, "new", 0), version("a", 1, "old", 0)}, ""},
		"its container is lost": {[]appsv1.ReplicaSet{func() appsv1.ReplicaSet {
			s := version("b", 2, "new", 1)
			s.Spec.Template.Spec.Containers = nil
			return s
		}()}, ""},
	} {
		if got := pictureOf(row.sets...).servingImage(); got != row.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestTheHistoryHasEveryNumberedVersionOnce(t *testing.T) {
	p := pictureOf(version("c", 3, "three", 1), version("c2", 3, "twice", 0), version("a", 1, "one", 0),
		version("new", 0, "four", 0))
	var got []v1alpha1.WebAppRevision
	for _, r := range p.revisions(nil) {
		r.Created = metav1.Time{}
		got = append(got, r)
	}
	if want := []v1alpha1.WebAppRevision{
		{Revision: 3, Image: "three", Available: 1}, {Revision: 1, Image: "one"},
	}; !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestAVersionThatNeverServedIsRemembered(t *testing.T) {
	old, broken := version("a", 1, "one", 0), version("b", 2, "broken", 0)
	at := func(sets ...appsv1.ReplicaSet) []appsv1.ReplicaSet {
		for i := range sets {
			sets[i].CreationTimestamp = metav1.Unix(int64(len(sets[i].Name)+int(sets[i].Name[0])), 0)
		}
		return sets
	}
	never := func(all []v1alpha1.WebAppRevision) (numbers []int64) {
		for _, r := range all {
			if r.NeverAvailable {
				numbers = append(numbers, r.Revision)
			}
		}
		return numbers
	}
	before := pictureOf(at(broken, old)...).revisions(nil)
	if got := never(before); !slices.Equal(got, []int64{2}) {
		t.Fatalf("with no memory only the newest is said never to have served: %v", got)
	}
	later := pictureOf(at(version("c", 3, "good", 1), broken, old)...).revisions(before)
	if got := never(later); !slices.Equal(got, []int64{2}) {
		t.Errorf("it is forgotten when the next one comes: %v", got)
	}
	again := pictureOf(at(version("a", 4, "one", 0), version("c", 3, "good", 1), broken)...).revisions(later)
	if got := never(again); !slices.Equal(got, []int64{2}) {
		t.Errorf("what served and gets another number: %v", got)
	}
	mended := pictureOf(at(version("b", 5, "broken", 1), version("c", 3, "good", 0))...).revisions(again)
	if got := never(mended); len(got) != 0 {
		t.Errorf("it serves now: %v", got)
	}
	app := &v1alpha1.WebApp{Spec: v1alpha1.WebAppSpec{Image: "good"}, Status: v1alpha1.WebAppStatus{Revisions: later}}
	if r, err := rollbackTarget(app, v1alpha1.RollbackPrevious); err != nil || r.Image != "one" {
		t.Errorf("the previous one is that which served: %v %v", r, err)
	}
}

func TestTheWantedVersionIsKnownOnceItsControllerSawIt(t *testing.T) {
	p := pictureOf(version("b", 2, "new", 0))
	if set := p.currentReplicaSet(); set == nil || set.Name != "b" {
		t.Errorf("got %v", set)
	}
	p.deployment.Annotations[RevisionAnnotation] = "3"
	if p.currentReplicaSet() != nil {
		t.Error("a version that is not in the cache yet was found")
	}
	if (runtimeState{}).currentReplicaSet() != nil {
		t.Error("nothing has a version")
	}
}

func TestRollbackTarget(t *testing.T) {
	app := &v1alpha1.WebApp{Spec: v1alpha1.WebAppSpec{Image: "three"}}
	app.Status.Revisions = []v1alpha1.WebAppRevision{
		{Revision: 5, Image: "three"},
		{Revision: 4, Image: "two"},
		{Revision: 2, Image: "one"},
	}
	for wish, want := range map[string]struct {
		image string
		err   string
	}{
		"previous": {image: "two"},
		"2":        {image: "one"},
		"4":        {image: "two"},
		"5":        {err: "spec.image is already three, the image of revision 5"},
		"3":        {err: "there is no revision 3 any more; status.revisions lists those that can be gone back to"},
		"-1":       {err: "there is no revision -1 any more; status.revisions lists those that can be gone back to"},
		"":         {err: "write previous, or the number of a revision in status.revisions"},
		"latest":   {err: "write previous, or the number of a revision in status.revisions"},
	} {
		got, err := rollbackTarget(app, wish)
		if (err == nil) != (want.err == "") || err != nil && err.Error() != want.err {
			t.Errorf("%q: error = %v, want %q", wish, err, want.err)
		}
		if err == nil && got.Image != want.image {
			t.Errorf("%q: Image = %q, want %q", wish, got.Image, want.image)
		}
	}
	app.Status.Revisions = app.Status.Revisions[:1]
	if _, err := rollbackTarget(app, "previous"); err == nil ||
		err.Error() != "there is no earlier revision with another image that has served" {
		t.Errorf("without a history: %v", err)
	}
}
