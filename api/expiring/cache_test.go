package expiring

import (
	"testing"
	"time"
)

func TestWhatIsKeptIsBounded(t *testing.T) {
	now := time.Unix(0, 0)
	c := New[int, int](time.Second, 10, func() time.Time { return now })
	for i := range 1000 {
		c.Put(i, i)
	}
	if n := len(c.young) + len(c.old); n > 10 {
		t.Errorf("%d are kept", n)
	}
	if v, ok := c.Get(999); !ok || v != 999 {
		t.Error("the last one is gone")
	}
	now = now.Add(time.Second)
	if _, ok := c.Get(999); ok {
		t.Error("kept for longer than its life")
	}
}
