package views

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func steps(values ...int64) []*int64 {
	var out []*int64
	for _, v := range values {
		if v < 0 {
			out = append(out, nil)
			continue
		}
		out = append(out, &v)
	}
	return out
}

func TestSparkLinesHaveGapsWhereNothingIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		steps      []*int64
		lines      int
		desc, ends string
	}{
		"nothing yet":        {nil, 0, "Nothing is known yet.", ""},
		"nothing known":      {steps(-1, -1), 0, "Nothing is known yet.", ""},
		"one value":          {steps(4), 1, "At most 4 calls a minute; the latest value is 4.", "160.0,2.0"},
		"a gap in between":   {steps(1, 3, -1, 2), 2, "At most 3 calls a minute; the latest value is 2.", "160.0,10.0"},
		"unknown at the end": {steps(1, 3, -1), 1, "At most 3 calls a minute; the latest value is not known.", ""},
		"nothing was asked":  {steps(0, 0), 1, "At most 0 calls a minute; the latest value is 0.", "160.0,26.0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSpark("x", "Calls", "calls a minute", c.steps)
			lines := s.lines(60)
			if len(lines) != c.lines || s.Desc != c.desc || !strings.HasSuffix(strings.Join(lines, " "), c.ends) {
				t.Errorf("%d lines %q, described as %q", len(lines), lines, s.Desc)
			}
		})
	}
}

func TestBarsThatAreNotEmptyCanBeSeen(t *testing.T) {
	r := Histogram{Bars: []Bar{{"1 s", 0}, {"2 s", 1}, {"5 s", 1000}}}.rects()
	got := []string{r[0].h, r[1].h, r[2].h, r[2].y}
	if want := []string{"0.0", "2.0", "64.0", "0.0"}; !slices.Equal(got, want) {
		t.Errorf("heights, and y of the last = %q, want %q", got, want)
	}
}

func TestDurationsAreInTwoUnits(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"less than a second": 999 * time.Millisecond, "2 s": 1600 * time.Millisecond, "8 s": 8 * time.Second,
		"1 min": time.Minute, "4 min 20 s": 260 * time.Second,
		"1 h": time.Hour, "2 h 5 min": 2*time.Hour + 5*time.Minute + 9*time.Second,
	} {
		if got := Duration(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
