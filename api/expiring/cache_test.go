package expiring

import (
	"strings"
	"testing"
	"time"
)

func TestWhatIsKeptIsBounded(t *testing.T) {
	now := time.Unix(0, 0)
	c := New[int, int](10, func() time.Time { return now })
	for i := range 1000 {
		c.Put(i, i, time.Second)
	}
	if n := len(c.kept.Keys()); n > 10 {
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

func TestBytesAreBounded(t *testing.T) {
	c := New[int, string](1000, time.Now).Sized(100, func(s string) int { return len(s) })
	c.Put(-1, strings.Repeat("x", 101), time.Hour)
	if _, ok := c.Get(-1); ok {
		t.Error("a value larger than the whole cache is kept")
	}
	for i := range 1000 {
		c.Put(i, strings.Repeat("x", 30), time.Hour)
		if _, ok := c.Get(i); !ok {
			t.Fatalf("value %d is gone at once", i)
		}
		if n := len(c.kept.Keys()); n > 3 {
			t.Fatalf("%d values of 30 bytes are kept", n)
		}
	}
}
