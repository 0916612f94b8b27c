package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/overview"
)

// spaces is a cache with namespaces.
type spaces struct {
	cache.Cache
	names  []string
	labels map[string]map[string]string // of namespaces
	roles  map[string]string            // of the RoleBindings, by namespace
	bound  map[string]rbacv1.Subject    // by namespace, in a RoleBinding
	wide   []rbacv1.ClusterRoleBinding
	failed error // of reading bindings
	teams  []string
	events []*corev1.Event
}

func (s spaces) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	if slices.Contains(s.names, key.Name) {
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, key.Name)
}

func (s spaces) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	switch list := into.(type) {
	case *metav1.PartialObjectMetadataList:
		for _, n := range s.names {
			list.Items = append(list.Items, metav1.PartialObjectMetadata{
				ObjectMeta: metav1.ObjectMeta{Name: n, Labels: s.labels[n]},
			})
		}
	case *rbacv1.RoleBindingList:
		for n, subject := range s.bound {
			b := rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: n}, Subjects: []rbacv1.Subject{subject}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: s.roles[n]},
			}
			if wanted := opts[0].(client.MatchingFields); slices.Contains(indexNames(&b), wanted[bySubject]) ||
				slices.Contains(indexOurRoles(&b), wanted[byOurRole]) {
				list.Items = append(list.Items, b)
			}
		}
		return s.failed
	case *rbacv1.ClusterRoleBindingList:
		wanted := opts[0].(client.MatchingFields)
		for _, b := range s.wide {
			if slices.Contains(indexSubjects(&b), wanted[bySubject]) ||
				slices.Contains(indexTeamSubjects(&b), wanted[byTeamSubject]) {
				list.Items = append(list.Items, b)
			}
		}
		return s.failed
	case *corev1.EventList:
		var o client.ListOptions
		o.ApplyOptions(opts)
		for _, e := range s.events {
			if (o.Namespace == "" || o.Namespace == e.Namespace) && o.FieldSelector.String() == eventController+"="+
				strings.Join(indexControllers(e), "") {
				list.Items = append(list.Items, *e)
			}
		}
		return s.failed
	case *unstructured.UnstructuredList:
		for _, name := range s.teams {
			list.Items = append(list.Items, *teamNamed(name))
		}
	}
	return nil
}

// overseen returns a Cluster with some objects that allows callers what allow lists, as "verb resource namespace".
func overseen(t *testing.T, allow ...string) (*Cluster, *judge) {
	t.Helper()
	kinds := catalogtest.Kinds(t)
	j, a, _ := newJudge(t)
	j.allow = func(r authorizationv1.SubjectAccessReviewSpec) bool {
		at := r.ResourceAttributes
		return slices.Contains(allow, strings.TrimSpace(at.Verb+" "+at.Resource+" "+at.Namespace))
	}
	group := rbacv1.Subject{Kind: "Group", Name: "oidc:a"}
	bound := map[string]rbacv1.Subject{"idle": group, "payments": group, "search": {Kind: "User", Name: dev.Username}}
	c := &Cluster{
		kinds: kinds, access: a, cache: spaces{names: []string{"idle", "payments", "search"}, bound: bound},
		overview: overview.NewStore(), feed: newFeed(),
	}
	for _, place := range []overview.Place{
		{Kind: "s3buckets", Namespace: "payments"},
		{Kind: "s3buckets", Namespace: "search"},
		{Kind: "sqsqueues", Namespace: "search"},
		{Kind: "awsproviders"},
	} {
		k, ok := kinds.ByPlural(place.Kind)
		if !ok {
			t.Fatalf("no kind %s", place.Kind)
		}
		c.counting(k, c.feed.objects(k)).OnAdd(named(place.Namespace, "1"), true)
	}
	return c, j
}

func named(namespace, version string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetNamespace(namespace)
	obj.SetName("x")
	obj.SetResourceVersion(version)
	return obj
}

func TestTheOverviewIsOfWhatTheCallerMayList(t *testing.T) {
	kinds, _ := overseen(t)
	var all []string
	for _, k := range kinds.kinds {
		all = append(all, "list "+k.Plural)
	}
	for name, c := range map[string]struct {
		allow   []string
		want    string
		partial bool
	}{
		"whoever may list everything": {all, "awsproviders/ s3buckets/payments s3buckets/search sqsqueues/search", false},
		"a team":                      {[]string{"list s3buckets payments", "list sqsqueues payments"}, "s3buckets/payments", true},
		"a kind in one namespace":     {[]string{"list sqsqueues search"}, "sqsqueues/search", true},
		"a kind everywhere":           {[]string{"list s3buckets"}, "s3buckets/payments s3buckets/search", true},
		"the platform's":              {[]string{"list awsproviders"}, "awsproviders/", true},
		"nobody":                      {nil, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, _ := overseen(t, c.allow...)
			o, err := cluster.Overview(t.Context(), dev)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, cell := range o.Cells {
				got = append(got, cell.Kind+"/"+cell.Namespace)
			}
			if strings.Join(got, " ") != c.want || len(o.Narrow) > 0 != c.partial {
				t.Errorf("%v, without all of %v; want %s, %v", got, o.Narrow, c.want, c.partial)
			}
		})
	}
}

func TestKindsThatMayNotBeListedAreTold(t *testing.T) {
	kinds, _ := overseen(t)
	var but []string // queues
	for _, k := range kinds.kinds.Requestable() {
		if k.Plural != "sqsqueues" {
			but = append(but, "list "+k.Plural)
		}
	}
	cluster, _ := overseen(t, append(but, "list sqsqueues search")...)
	unlisted, err := cluster.Unlisted(t.Context(), dev, []string{"payments", "search"})
	if err != nil || len(unlisted) != 1 || len(unlisted["payments"]) != 1 {
		t.Fatalf("Unlisted() = %v, %v, want one kind of payments", unlisted, err)
	}
	if plural := unlisted["payments"][0].Plural; plural != "sqsqueues" {
		t.Errorf("Unlisted() = %s, want sqsqueues", plural)
	}
	o, err := cluster.Overview(t.Context(), dev)
	if err != nil || !slices.Contains(o.Narrow, "sqsqueues") || slices.Contains(o.Narrow, "s3buckets") {
		t.Errorf("not everywhere: %v, %v", o.Narrow, err)
	}
}

func TestTheOverviewAsksOnceForEachPlaceAtMost(t *testing.T) {
	c, j := overseen(t, "list sqsqueues search")
	for range 3 {
		if _, err := c.Overview(t.Context(), dev); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, r := range j.asked {
		at := r.ResourceAttributes.Verb + " " + r.ResourceAttributes.Resource + " " + r.ResourceAttributes.Namespace
		if seen[at] {
			t.Errorf("asked again: %s", at)
		}
		seen[at] = true
	}
	if n, most := j.count(), len(c.kinds)*4; n > most { // three namespaces and the whole cluster
		t.Errorf("%d reviews, want %d at most", n, most)
	}
}

func TestAnErrorOfAccessIsNoEmptyOverview(t *testing.T) {
	c, j := overseen(t)
	j.err = errors.New("away")
	if o, err := c.Overview(t.Context(), dev); !isUnavailable(err) {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestTheOverviewKnowsOfAChangeBeforeSubscribersDo(t *testing.T) {
	c, _ := overseen(t, "list s3buckets")
	k, _ := c.kinds.ByPlural("s3buckets")
	h := c.counting(k, c.feed.objects(k))
	counts := func() overview.Counts {
		t.Helper()
		o, err := c.Overview(t.Context(), dev)
		if err != nil {
			t.Fatal(err)
		}
		return o.Sum(func(p overview.Place) bool { return p.Namespace == "payments" })
	}
	sub := c.Subscribe(t.Context())
	paused := named("payments", "2")
	paused.SetAnnotations(map[string]string{"portico.dev/paused": "true"})
	h.OnUpdate(named("payments", "1"), paused)
	if changes, _ := sub.Take(); len(changes) != 1 || counts()[phase.Paused] != 1 {
		t.Errorf("after an update: %v, %v", changes, counts())
	}
	h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "payments/x", Obj: paused})
	if changes, _ := sub.Take(); len(changes) != 1 || counts().Total() != 0 {
		t.Errorf("after a deletion: %v, %v", changes, counts())
	}
	if times := c.TimesToReady(k); times.N != 0 {
		t.Errorf("%+v", times)
	}
}

// TestWhatIsNotListedCostsNothingWhereNothingBindsTheCaller: only a RoleBinding could grant there what is not granted
// in the whole cluster.
func TestWhatIsNotListedCostsNothingWhereNothingBindsTheCaller(t *testing.T) {
	c, j := overseen(t, "list s3buckets")
	names := []string{"payments"}
	for i := range 200 {
		names = append(names, fmt.Sprint("other-", i))
	}
	got, err := c.Unlisted(t.Context(), dev, names)
	if err != nil || len(got) != len(names) {
		t.Fatalf("%d of %d namespaces, %v", len(got), len(names), err)
	}
	kinds := len(c.kinds.Requestable())
	if n := j.count(); n > 2*kinds || len(got["other-7"]) != kinds-1 {
		t.Errorf("%d reviews for %d kinds, of which %d may not be listed", n, kinds, len(got["other-7"]))
	}
}
