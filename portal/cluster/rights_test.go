package cluster

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestRightsCostFewReviews(t *testing.T) {
	c, j := crowd(t, "list s3buckets payments", "delete s3buckets payments")
	kinds := c.kinds.Requestable()
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
		before := j.count()
		may, err := c.Rights(t.Context(), dev, kinds, look.at)
		if err != nil || len(may) != len(kinds) || may["sqsqueues"] == nil {
			t.Errorf("%s: Rights() = %v, %v, want all %d kinds", look.at, may, err, len(kinds))
		}
		if got := may["s3buckets"]; !slices.Equal(got, look.want) {
			t.Errorf("%s: rights on buckets = %q, want %q", look.at, got, look.want)
		}
		if n := j.count() - before; n != look.cost {
			t.Errorf("%s: %d reviews, want %d", look.at, n, look.cost)
		}
	}
}

func TestRightsInTheWholeClusterHoldInEachNamespace(t *testing.T) {
	c, j := crowd(t, "get s3buckets")
	kinds := c.kinds.Requestable()
	for i := range 20 {
		may, err := c.Rights(t.Context(), dev, kinds, fmt.Sprintf("other-%03d", i))
		if err != nil || !slices.Equal(may["s3buckets"], []string{"get"}) {
			t.Errorf("%v, %v", may, err)
		}
	}
	if n := j.count(); n > len(kinds)*len(verbs) {
		t.Errorf("%d reviews about 20 namespaces", n)
	}
}

func TestRightsThatCannotBeFoundOutAreNoLackOfRights(t *testing.T) {
	c, j := crowd(t)
	j.err = errors.New("down")
	if may, err := c.Rights(t.Context(), dev, c.kinds, "payments"); !isUnavailable(err) {
		t.Errorf("%v, %v", may, err)
	}
	s := c.cache.(spaces)
	s.failed = errors.New("not synced")
	c.cache = s
	if may, err := c.Rights(t.Context(), dev, c.kinds, "payments"); !isUnavailable(err) {
		t.Errorf("%v, %v", may, err)
	}
}
