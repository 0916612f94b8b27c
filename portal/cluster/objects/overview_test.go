package objects

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/overview"
)

// reading returns the objects among the namespaces, for callers who can do what allow lists.
func reading(t *testing.T, s *kubetest.Spaces, allow ...string) (*Objects, *kubetest.Judge) {
	t.Helper()
	j, from := kubetest.NewJudge(), kubetest.NewFeed(t, s)
	j.Allow = kubetest.Only(allow...)
	may := rights.New(rights.Options{Reviews: j.Reviews(), Feed: from, Clock: j.Clock})
	return New(may, from, nil), j
}

// overseen returns what kubetest.Dev sees, whom bindings in three namespaces and in the whole cluster name.
func overseen(t *testing.T, allow ...string) (*Objects, *kubetest.Judge) {
	t.Helper()
	s := kubetest.NewSpaces()
	s.Wide = []rbacv1.ClusterRoleBinding{
		{RoleRef: rbacv1.RoleRef{Name: "any"}, Subjects: []rbacv1.Subject{{Kind: "Group", Name: "oidc:a"}}},
	}
	return reading(t, s, allow...)
}

func TestTheOverviewIsOfWhatTheCallerMayList(t *testing.T) {
	kinds, _ := overseen(t)
	var all []string
	for _, k := range kinds.feed.Kinds.Now() {
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
			o, err := cluster.Overview(t.Context(), kubetest.Dev)
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
	for _, k := range kinds.feed.Kinds.Now().Requestable() {
		if k.Plural != "sqsqueues" {
			but = append(but, "list "+k.Plural)
		}
	}
	cluster, _ := overseen(t, append(but, "list sqsqueues search")...)
	unlisted, err := cluster.rights.Unlisted(t.Context(), kubetest.Dev, []string{"payments", "search"})
	if err != nil || len(unlisted) != 1 {
		t.Fatalf("%v, %v", unlisted, err)
	}
	if len(unlisted["payments"]) != 1 || unlisted["payments"][0].Plural != "sqsqueues" {
		t.Errorf("%v, %v", unlisted, err)
	}
	o, err := cluster.Overview(t.Context(), kubetest.Dev)
	if err != nil || !slices.Contains(o.Narrow, "sqsqueues") || slices.Contains(o.Narrow, "s3buckets") {
		t.Errorf("not everywhere: %v, %v", o.Narrow, err)
	}
}

func TestTheOverviewAsksOnceForEachPlaceAtMost(t *testing.T) {
	c, j := overseen(t, "list sqsqueues search")
	for range 3 {
		if _, err := c.Overview(t.Context(), kubetest.Dev); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, r := range j.Asked() {
		at := r.ResourceAttributes.Verb + " " + r.ResourceAttributes.Resource + " " + r.ResourceAttributes.Namespace
		if seen[at] {
			t.Errorf("asked again: %s", at)
		}
		seen[at] = true
	}
	if n, most := j.Count(), len(c.feed.Kinds.Now())*4; n > most { // three namespaces and the whole cluster
		t.Errorf("%d reviews, want %d at most", n, most)
	}
}

func TestAnErrorOfAccessIsNoEmptyOverview(t *testing.T) {
	c, j := overseen(t)
	j.Err = errors.New("away")
	if o, err := c.Overview(t.Context(), kubetest.Dev); !kubetest.IsUnavailable(err) {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestBindingsThatCannotBeReadAreNoEmptyOverview(t *testing.T) {
	s := kubetest.Crowd()
	s.Failed = errors.New("not synced")
	c, _ := reading(t, s, "list s3buckets payments")
	if o, err := c.Overview(t.Context(), kubetest.Dev); !kubetest.IsUnavailable(err) {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestImpossibleNamesAreNotRead(t *testing.T) {
	c, j := overseen(t)
	k, _ := c.feed.Kinds.Now().ByPlural("s3buckets")
	for _, name := range []string{"", "A", "a/b", "..", strings.Repeat("a", 254)} {
		var forbidden *failure.ForbiddenError
		ref := catalog.Ref{Kind: k, Namespace: "payments", Name: name}
		if _, err := c.Get(t.Context(), kubetest.Dev, ref); !errors.As(err, &forbidden) {
			t.Errorf("name %.70q: %v", name, err)
		}
	}
	if j.Count() != 0 {
		t.Errorf("asked %d times", j.Count())
	}
}

func TestTheOverviewKnowsOfAChangeBeforeSubscribersDo(t *testing.T) {
	c, _ := overseen(t, "list s3buckets")
	k, _ := c.feed.Kinds.Now().ByPlural("s3buckets")
	h := c.feed.Handler(k.Plural)
	counts := func() overview.Counts {
		t.Helper()
		o, err := c.Overview(t.Context(), kubetest.Dev)
		if err != nil {
			t.Fatal(err)
		}
		return o.Sum(func(p overview.Place) bool { return p.Namespace == "payments" })
	}
	sub := c.feed.Changes.Subscribe(t.Context())
	paused := kubetest.Named("payments", "2")
	paused.SetAnnotations(map[string]string{"portico.dev/paused": "true"})
	h.OnUpdate(kubetest.Named("payments", "1"), paused)
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
	got, err := c.rights.Unlisted(t.Context(), kubetest.Dev, names)
	if err != nil || len(got) != len(names) {
		t.Fatalf("%d of %d namespaces, %v", len(got), len(names), err)
	}
	kinds := len(c.feed.Kinds.Now().Requestable())
	if n := j.Count(); n > 2*kinds || len(got["other-7"]) != kinds-1 {
		t.Errorf("%d reviews for %d kinds, of which %d may not be listed", n, kinds, len(got["other-7"]))
	}
}

// TestRightsThatTellNothingAreAskedForSeldom: the rights to change an object, which the API server checks itself, and
// to list a kind without objects are cached longer. Denials and all other rights are not.
func TestRightsThatTellNothingAreAskedForSeldom(t *testing.T) {
	c, j := overseen(t)
	clock := j.Clock
	const accessTTL, emptyTTL = 10 * time.Second, time.Minute // of package rights
	forget := func() { clock.SetTime(clock.Now().Add(time.Hour)) }
	kind := func(plural string) catalog.Kind { k, _ := c.feed.Kinds.Now().ByPlural(plural); return k }
	create, revoke := rights.To("create", kind("s3buckets"), "payments"), rights.Right{
		Verb:  "delete",
		Group: "portico.dev", Resource: "sessions",
	}
	rows := func(plural string) error {
		_, err := c.Rows(t.Context(), kubetest.Dev, kind(plural), "payments")
		return err
	}
	for name, row := range map[string]struct {
		ask func() error
		yes bool
		// short and long are the numbers of further reviews after accessTTL and after emptyTTL.
		short, long int
	}{
		"a button":                  {func() error { return c.rights.RequireRight(t.Context(), kubetest.Dev, create) }, true, 0, 0},
		"no button":                 {func() error { return c.rights.RequireRight(t.Context(), kubetest.Dev, create) }, false, 1, 1},
		"a list of something":       {func() error { return rows("s3buckets") }, true, 1, 1},
		"a list of nothing":         {func() error { return rows("sqsqueues") }, true, 0, 1},
		"a list that may not be":    {func() error { return rows("sqsqueues") }, false, 1, 1},
		"what only the portal asks": {func() error { return c.rights.RequireRight(t.Context(), kubetest.Dev, revoke) }, true, 1, 1},
	} {
		forget()
		j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return row.yes }
		if err := row.ask(); (err == nil) != row.yes {
			t.Errorf("%s: %v", name, err)
		}
		for _, then := range []struct {
			after time.Duration
			times int
		}{{accessTTL, row.short}, {emptyTTL, row.long}} {
			before := j.Count()
			clock.SetTime(clock.Now().Add(then.after))
			if err := row.ask(); (err == nil) != row.yes || j.Count()-before != then.times {
				t.Errorf("%s, after %s: asked %d times, want %d; %v", name, then.after, j.Count()-before, then.times,
					err)
			}
		}
	}
	forget()
	j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return true }
	if err := rows("sqsqueues"); err != nil {
		t.Fatal(err)
	}
	clock.SetTime(clock.Now().Add(accessTTL))
	j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return false }
	c.feed.Handler("sqsqueues").OnAdd(kubetest.Named("payments", "1"), false)
	if err := rows("sqsqueues"); err == nil {
		t.Error("who lost the right sees the first object that comes")
	}
}

// TestMadeUpNamespacesCostNoReviews, and have the same result as namespaces without rights.
func TestMadeUpNamespacesCostNoReviews(t *testing.T) {
	c, j := reading(t, kubetest.Crowd(), "list s3buckets payments")
	k := clustertest.Bucket(t).Kind
	refusal := func(namespace string) string {
		_, err := c.Rows(t.Context(), kubetest.Dev, k, namespace)
		if _, forbidden := errors.AsType[*failure.ForbiddenError](err); !forbidden {
			t.Fatalf("%s: %v", namespace, err)
		}
		return strings.ReplaceAll(err.Error(), namespace, "it")
	}
	want := refusal("other-001")
	before := j.Count()
	for i := range 100 {
		if got := refusal(fmt.Sprintf("made-up-%d", i)); got != want {
			t.Errorf("%q, and of one that exists %q", got, want)
		}
	}
	if n := j.Count() - before; n > 0 {
		t.Errorf("%d reviews", n)
	}
	wide, j := overseen(t, "list s3buckets")
	for i := range 100 { // a caller with the right in the whole cluster gets the same decision
		if ok, err := wide.rights.Can(t.Context(), kubetest.Dev, "list", k, fmt.Sprintf("made-up-%d", i)); !ok ||
			err != nil {
			t.Fatalf("%v, %v", ok, err)
		}
	}
	if j.Count() != 1 {
		t.Errorf("%d reviews of a right in the whole cluster", j.Count())
	}
}
