package rights

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

func TestRightsCostFewReviews(t *testing.T) {
	c, j := crowd(t, "list s3buckets payments", "delete s3buckets payments")
	kinds := c.feed.Kinds.Now().Requestable()
	each := len(kinds) * len(verbs)
	for _, look := range []struct {
		at   string
		want []string // of buckets
		cost int
	}{
		{"payments", []string{"list", "delete"}, each},
		{"payments", []string{"list", "delete"}, 0},
		{"no-such-1", []string{}, 0},
		{"other-001", []string{}, each}, // in the whole cluster
		{"other-002", []string{}, 0},
		{"no-such-2", []string{}, 0},
	} {
		before := j.Count()
		may, err := c.In(t.Context(), kubetest.Dev, kinds, look.at)
		if err != nil || len(may) != len(kinds) {
			t.Fatalf("%s: %v, %v", look.at, may, err)
		}
		if may["sqsqueues"] == nil || !slices.Equal(may["s3buckets"], look.want) {
			t.Errorf("%s: %v, %v", look.at, may, err)
		}
		if n := j.Count() - before; n != look.cost {
			t.Errorf("%s: %d reviews, want %d", look.at, n, look.cost)
		}
	}
}

func TestRightsInTheWholeClusterHoldInEachNamespace(t *testing.T) {
	c, j := crowd(t, "get s3buckets")
	kinds := c.feed.Kinds.Now().Requestable()
	for i := range 20 {
		may, err := c.In(t.Context(), kubetest.Dev, kinds, fmt.Sprintf("other-%03d", i))
		if err != nil || !slices.Equal(may["s3buckets"], []string{"get"}) {
			t.Errorf("%v, %v", may, err)
		}
	}
	if n := j.Count(); n > len(kinds)*len(verbs) {
		t.Errorf("%d reviews about 20 namespaces", n)
	}
}

func TestRightsThatCannotBeFoundOutAreNoLackOfRights(t *testing.T) {
	c, j := crowd(t)
	j.Err = errors.New("down")
	if may, err := c.In(t.Context(), kubetest.Dev, c.feed.Kinds.Now(), "payments"); !kubetest.IsUnavailable(err) {
		t.Errorf("%v, %v", may, err)
	}
	s := c.feed.Cache.(*kubetest.Spaces)
	s.Failed = errors.New("not synced")
	if may, err := c.In(t.Context(), kubetest.Dev, c.feed.Kinds.Now(), "payments"); !kubetest.IsUnavailable(err) {
		t.Errorf("%v, %v", may, err)
	}
}
