package podlogs

import (
	"slices"
	"testing"
)

func TestLogsAreMergedByTime(t *testing.T) {
	copies := []Copy{
		{"a", []string{"2026-11-21T12:00:01.000000000Z one", "2026-11-21T12:00:03.500000000Z three", "no time, after three"}},
		{"b", []string{"2026-11-21T13:00:02.000000000+01:00 two", "2026-11-21T12:00:04Z four", "2026-11-21T12:00:03Z late, and still after four"}},
		{"c", nil},
	}
	want := []string{
		"[a] one", "[b] two", "[a] three", "[a] no time, after three", "[b] four",
		"[b] late, and still after four",
	}
	if got := Merge(copies, false); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := Merge(copies[:1], true); got[0] != "[a] 2026-11-21T12:00:01.000000000Z one" ||
		got[2] != "[a] no time, after three" {
		t.Errorf("with timestamps %q", got)
	}
}
