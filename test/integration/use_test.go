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

// awaitMark waits until obj is marked as used by so many, and returns the mark.
func awaitMark(t *testing.T, c client.Client, obj engine.Object, users int) []v1alpha1.ObjectRef {
	t.Helper()
	await(t, fmt.Sprintf("%s to be used by %d", obj.GetName(), users), func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)
		s := obj.Common()
		return err == nil && len(s.UsedBy)+int(s.MoreUsers) == users, fmt.Sprint(err, s.UsedBy, s.MoreUsers)
	})
	return obj.Common().UsedBy
}

// reference is one way in which an object can name another.
type reference struct {
	from, to string
	spec     string // of the one that names, with NAME for the other
}

// references returns every way, as the CRDs have it.
func references(t *testing.T) (all []reference) {
	t.Helper()
	for _, k := range catalogtest.Kinds(t) {
		if !k.Namespaced {
			continue // a Team holds no AWSProvider: marks are about the objects of one namespace
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

// beside is what else a spec needs that refers by a path.
var beside = map[string]string{
	"spec.deadLetterQueue.targetRef.name": `"maxReceiveCount":3,`,
	"spec.notifications[].queueRef.name":  `"events":["s3:ObjectCreated:*"],`,
	"spec.notifications[].topicRef.name":  `"events":["s3:ObjectCreated:*"],`,
}

// specNaming writes the spec that refers by r to an object of a kind, which is called NAME.
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

// What is in use is not deleted, whichever kind is used by whichever, by whomever; once nobody uses it, it is. Whole
// namespaces and what the garbage collector takes go as ever.
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
		its[i], users[i] = j.object(r.to, name, "{}"), j.object(r.from, fmt.Sprintf("user-%d", i), strings.ReplaceAll(r.spec, "NAME", name))
		create(t, j.c, users[i]) // before what it names is there
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

// A user that is on its way out counts no more, however long it takes; nor does an object keep itself.
func TestOnlyWhoStaysUses(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	queue := queueOf(ns, "orders")
	queue.Spec.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{TargetRef: &v1alpha1.LocalRef{Name: "orders"}, MaxReceiveCount: 3}
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

// A mark follows each edit of a user, and costs no look at AWS and no pass.
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

// A mark names no more than it has room for, and counts the others.
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
	if got := awaitMark(t, c, b, users); len(got) != use.MaxUsers || !slices.IsSortedFunc(got, func(a, b v1alpha1.ObjectRef) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("names %v", got)
	}
	if err := erase(t, c, b); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "and 3 more") {
		t.Errorf("deleted while in use: %v", err)
	}
}

// A namespace goes with all that is in it, whoever uses what.
func TestANamespaceGoesWithWhatIsInUse(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	b := bucketOf(ns, "docs")
	createReady(t, c, b)
	app := appOf(ns, "shop")
	app.Spec.Bindings = []v1alpha1.WebAppBinding{{Kind: "S3Bucket", Name: "docs"}}
	app.Finalizers = []string{"example.com/wait"} // so that the bucket is in use for as long as we look
	create(t, c, app)
	awaitMark(t, c, b, 1)
	if err := c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, c, b)
	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Finalizers = nil })
	awaitGone(t, c, app)
}

// What a team may do marks nothing: statuses are the operator's.
func TestNobodyForgesAMark(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	b := bucketOf(ns, "docs")
	createReady(t, c, b)
	member := developer(t, c, ns)
	err := member.Status().Patch(t.Context(), b, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"usedBy":[{"kind":"WebApp","name":"shop"}]}}`)))
	if !apierrors.IsForbidden(err) {
		t.Errorf("a member writes a status: %v", err)
	}
}

// The types return what stands where the CRDs say that they refer to others, and nothing else.
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
				if err := o.UnmarshalJSON([]byte(`{"apiVersion":"portico.dev/v1alpha1","kind":"` + k.Name + `","spec":` + specNaming(t, r, to) + `}`)); err != nil {
					t.Fatal(err)
				}
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
					t.Fatal(err)
				}
				if got, want := typed.References(), []v1alpha1.ObjectRef{{Kind: to, Name: "NAME"}}; !slices.Equal(got, want) {
					t.Errorf("%s by %s: %v, want %v", k.Name, r.Path, got, want)
				}
			}
		}
	}
}
