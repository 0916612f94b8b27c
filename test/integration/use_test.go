//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/use"
	"github.com/portico-platform/portico/controllers/watch"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/test/awsproxy"
)

// awaitMark waits until the status says that obj is used by this many objects, and returns them.
func awaitMark(t *testing.T, c client.Client, obj engine.Object, users int) []v1alpha1.ObjectRef {
	t.Helper()
	await(t, fmt.Sprintf("%s to be used by %d", obj.GetName(), users), func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)
		s := obj.Common()
		return err == nil && len(s.UsedBy)+int(s.MoreUsers) == users, fmt.Sprint(err, s.UsedBy, s.MoreUsers)
	})
	return obj.Common().UsedBy
}

// reference is one way for an object to refer to another.
type reference struct {
	from, to string
	spec     string // of the object that refers, with NAME for the other
}

// references returns all references that the CRDs declare.
func references(t *testing.T) (all []reference) {
	t.Helper()
	for _, k := range catalogtest.Kinds(t) {
		if !k.Namespaced {
			continue // a Team does not use an AWSProvider: usedBy has objects of one namespace only
		}
		for _, r := range k.Refers {
			for _, to := range r.Kinds {
				all = append(all, reference{k.Name, to, specNaming(t, r, to)})
			}
		}
	}
	if len(all) < 8 {
		t.Fatalf("only %v", all)
	}
	return all
}

// beside are further required fields of specs, by the path of the reference.
var beside = map[string]string{
	"spec.deadLetterQueue.targetRef.name": `"maxReceiveCount":3,`,
	"spec.notifications[].queueRef.name":  `"events":["s3:ObjectCreated:*"],`,
	"spec.notifications[].topicRef.name":  `"events":["s3:ObjectCreated:*"],`,
}

// specNaming returns a spec with the reference r to an object NAME of kind to.
func specNaming(t *testing.T, r catalog.Reference, to string) string {
	t.Helper()
	path := strings.Split(strings.TrimPrefix(r.Path, "spec."), ".")
	text := `{"` + path[len(path)-1] + `":"NAME"`
	if r.Beside != "" {
		text += `,"` + r.Beside[strings.LastIndexByte(r.Beside, '.')+1:] + `":"` + to + `"`
	}
	text += "}"
	for _, step := range slices.Backward(path[:len(path)-1]) {
		name, list := strings.CutSuffix(step, "[]")
		if list {
			text = "[" + text + "]"
		}
		text = `{"` + name + `":` + text + "}"
	}
	at := `":{`
	if strings.Contains(r.Path, "[]") {
		at = `[{`
	}
	return strings.Replace(text, at, at+beside[r.Path], 1)
}

// An object that another one uses cannot be deleted, for all references and kinds; once it is unused, it can. The
// deletion of namespaces and the garbage collector are not limited.
func TestWhatIsInUseIsNotDeleted(t *testing.T) {
	j := newJourney(t)
	collector, err := newCollector()
	if err != nil {
		t.Fatal(err)
	}
	all := references(t)
	its, users := make([]engine.Object, len(all)), make([]engine.Object, len(all))
	for i, r := range all {
		name := fmt.Sprintf("used-%d", i)
		its[i], users[i] = j.object(r.to, name, "{}"),
			j.object(r.from, fmt.Sprintf("user-%d", i), strings.ReplaceAll(r.spec, "NAME", name))
		create(t, j.c, users[i]) // before the object that it refers to
		create(t, j.c, its[i])
	}
	for i, r := range all {
		t.Run(r.from+" names "+r.to, func(t *testing.T) {
			want := v1alpha1.ObjectRef{Kind: r.from, Name: users[i].GetName()}
			if got := awaitMark(t, j.c, its[i], 1); got[0] != want {
				t.Fatalf("used by %v, want %v", got, want)
			}
			refusedInUse(t, erase(t, j.c, its[i]), want)
			if err := collector.Delete(t.Context(), its[i], client.DryRunAll); err != nil {
				t.Errorf("the garbage collector: %v", err)
			}
			gone(t, j.c, users[i])
			awaitMark(t, j.c, its[i], 0)
			gone(t, j.c, its[i])
		})
	}
}

func refusedInUse(t *testing.T, err error, by v1alpha1.ObjectRef) {
	t.Helper()
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "in use by "+by.Kind+" "+by.Name) {
		t.Fatalf("deleted while in use: %v", err)
	}
}

// A user that is being deleted no longer counts, even if its deletion takes long, and an object does not count as its
// own user.
func TestOnlyWhoStaysUses(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	queue := queueOf(ns, "orders")
	queue.Spec.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{
		TargetRef: &v1alpha1.LocalRef{Name: "orders"}, MaxReceiveCount: 3,
	}
	create(t, c, queue)
	app := appOf(ns, "shop")
	app.Spec.Bindings = []v1alpha1.WebAppBinding{{Kind: "SQSQueue", Name: "orders"}}
	app.Finalizers = []string{"example.com/wait"}
	create(t, c, app)
	awaitMark(t, c, queue, 1)
	if err := c.Delete(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	awaitMark(t, c, queue, 0)
	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Finalizers = nil })
	gone(t, c, queue)
}

// usedBy follows each edit of a user, without a call to AWS and without a reconcile.
func TestAMarkFollowsItsUsersWithoutAPass(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	b, other := bucketOf(ns, "docs"), bucketOf(ns, "other")
	createReady(t, c, b)
	createReady(t, c, other)
	m := world.Proxy.Mark()
	app := appOf(ns, "shop")
	app.Spec.Bindings = []v1alpha1.WebAppBinding{{Kind: "S3Bucket", Name: "docs"}}
	create(t, c, app)
	awaitMark(t, c, b, 1)
	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Spec.Bindings[0].Name = "other" })
	awaitMark(t, c, b, 0)
	awaitMark(t, c, other, 1)
	atRest(t, c, b)
	if calls := world.Proxy.CallsSince(m, func(call awsproxy.Call) bool {
		return call.Names(b.Spec.BucketName) || call.Names(other.Spec.BucketName)
	}); len(calls) != 0 {
		t.Errorf("%d calls about what is only marked: %v", len(calls), calls)
	}
}

// usedBy has at most MaxUsers names, and the status counts the others.
func TestAMarkHasBounds(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	b := bucketOf(ns, "docs")
	create(t, c, b)
	const users = use.MaxUsers + 3
	for i := range users {
		app := appOf(ns, fmt.Sprintf("shop-%02d", i))
		app.Spec.Bindings = []v1alpha1.WebAppBinding{{Kind: "S3Bucket", Name: "docs"}}
		create(t, c, app)
	}
	if got := awaitMark(t, c, b, users); len(got) != use.MaxUsers ||
		!slices.IsSortedFunc(got, func(a, b v1alpha1.ObjectRef) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("names %v", got)
	}
	if err := erase(t, c, b); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "and 3 more") {
		t.Errorf("deleted while in use: %v", err)
	}
}

// A namespace is deleted with all its objects, even if they use each other.
func TestANamespaceGoesWithWhatIsInUse(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	b := bucketOf(ns, "docs")
	createReady(t, c, b)
	app := appOf(ns, "shop")
	app.Spec.Bindings = []v1alpha1.WebAppBinding{{Kind: "S3Bucket", Name: "docs"}}
	app.Finalizers = []string{"example.com/wait"} // so that the bucket stays in use
	create(t, c, app)
	awaitMark(t, c, b, 1)
	if err := c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, c, b)
	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Finalizers = nil })
	awaitGone(t, c, app)
}

// Team members cannot set usedBy, because only the operator writes statuses.
func TestNobodyForgesAMark(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	b := bucketOf(ns, "docs")
	createReady(t, c, b)
	member := developer(t, c, ns)
	err := member.Status().Patch(
		t.Context(), b, client.RawPatch("application/merge-patch+json",
			[]byte(`{"status":{"usedBy":[{"kind":"WebApp","name":"shop"}]}}`)))
	if !apierrors.IsForbidden(err) {
		t.Errorf("a member writes a status: %v", err)
	}
}

// The types' References methods return exactly the references that their CRDs declare.
func TestTheTypesReferAsTheirCRDsSay(t *testing.T) {
	for _, k := range catalogtest.Kinds(t) {
		if !k.Namespaced {
			continue // see references
		}
		made, err := scheme().New(v1alpha1.GroupVersion.WithKind(k.Name))
		if err != nil {
			t.Fatal(err)
		}
		referrer, ok := made.(watch.Referrer)
		if ok != (len(k.Refers) > 0) {
			t.Errorf("%s: names others %v, and its CRD says %v", k.Name, ok, k.Refers)
		}
		for _, r := range k.Refers {
			for _, to := range r.Kinds {
				typed := referrer.DeepCopyObject().(watch.Referrer)
				o := &unstructured.Unstructured{}
				if err := o.UnmarshalJSON(
					[]byte(`{"apiVersion":"portico.dev/v1alpha1","kind":"` + k.Name + `","spec":` +
						specNaming(t, r, to) + `}`)); err != nil {
					t.Fatal(err)
				}
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
					t.Fatal(err)
				}
				if got, want := typed.References(), []v1alpha1.ObjectRef{{Kind: to, Name: "NAME"}}; !slices.Equal(
					got, want) {
					t.Errorf("%s by %s: %v, want %v", k.Name, r.Path, got, want)
				}
			}
		}
	}
}
