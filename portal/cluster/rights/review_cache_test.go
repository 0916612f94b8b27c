package rights

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

func TestImpossibleNamesAreRefusedUnasked(t *testing.T) {
	j, a, _ := newJudge(t)
	c := &Rights{access: a}
	k, _ := catalogtest.Kinds(t).ByPlural("s3buckets")
	ref := catalog.Ref{Kind: k, Namespace: "payments"}
	for _, ns := range []string{
		"Payments", "a/b", "..", "a\x00b", "a.b", " ", "-a", strings.Repeat("a", 64),
		strings.Repeat("a", 1<<20),
	} {
		var forbidden *failure.ForbiddenError
		if err := a.RequireRight(t.Context(), kubetest.Dev, Right{
			Verb: "list", Resource: "s3buckets",
			Namespace: ns,
		}); !errors.As(
			err, &forbidden) {
			t.Errorf("namespace %.70q: %v", ns, err)
		}
		if ok, err := c.Can(t.Context(), kubetest.Dev, "list", ref.Kind, ns); ok || err != nil {
			t.Errorf("namespace %.70q: %v, %v", ns, ok, err)
		}
	}
	for _, name := range []string{"", "A", "a/b", "..", strings.Repeat("a", 254)} {
		var forbidden *failure.ForbiddenError
		ref.Name = name
		if err := c.RequireOne(t.Context(), kubetest.Dev, "get", ref); !errors.As(err, &forbidden) {
			t.Errorf("name %.70q: %v", name, err)
		}
	}
	if j.Count() != 0 {
		t.Errorf("asked %d times", j.Count())
	}
	if !ask(t, a, kubetest.Dev, Right{Verb: "list", Resource: "s3buckets", Namespace: strings.Repeat("a", 63)}) {
		t.Error("a long name is refused")
	}
}

func TestNoTwoQuestionsAreAlike(t *testing.T) {
	seen := map[Question]string{}
	for name, q := range map[string]Question{
		"one group":               QuestionOf(auth.Identity{Username: "u", Groups: []string{"a\x00b"}}, listing),
		"two groups":              QuestionOf(auth.Identity{Username: "u", Groups: []string{"a", "b"}}, listing),
		"a group in the username": QuestionOf(auth.Identity{Username: "u\x00a", Groups: []string{"b"}}, listing),
		"verb and group":          QuestionOf(kubetest.Dev, Right{Verb: "a", Group: "b"}),
		"all in the verb":         QuestionOf(kubetest.Dev, Right{Verb: "a\x00b"}),
	} {
		if other, ok := seen[q]; ok {
			t.Errorf("%s is %s", name, other)
		}
		seen[q] = name
	}
}

func TestAnswersAreBoundedAndForgotten(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	a := newAccessCache(100, clock)
	q := func(i int) Question {
		return QuestionOf(kubetest.Dev, Right{Verb: "get", Resource: strconv.Itoa(i)})
	}
	for i := range 1000 {
		a.add(q(i), decision{ok: true}, a.clock.Now(), accessTTL)
		if n := len(a.young) + len(a.old); n > 100 {
			t.Fatalf("%d answers", n)
		}
	}
	if is, known := a.get(q(999), ""); !is.ok || !known {
		t.Error("the last answer is gone")
	}
	for range 2 {
		clock.SetTime(clock.Now().Add(offerTTL))
		a.add(q(1000), decision{}, a.clock.Now(), accessTTL)
	}
	if n := len(a.young) + len(a.old); n != 2 {
		t.Errorf("%d answers, of which most have expired", n)
	}
	if is, known := a.get(q(1000), ""); is.ok || !known {
		t.Errorf("%v, %v", is, known)
	}
	if a.remove(q(1000)); len(a.young)+len(a.old) != 0 {
		t.Error("it was not removed")
	}
}
