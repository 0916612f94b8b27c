package views

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The sizes of plots, in units of their viewBox.
const (
	sparkWide, sparkHigh = 160, 28
	barsWide, barsHigh   = 260, 64
)

// Spark is a small line chart over time with one value a step. A nil step is unknown, and a gap in the line.
type Spark struct {
	ID    string
	Title string // what it shows
	Desc  string // the highest and the latest value in words
	Steps []*int64
}

// NewSpark returns a Spark with a description. unit is the unit of the steps, such as "calls a minute".
func NewSpark(id, title, unit string, steps []*int64) Spark {
	s := Spark{ID: id, Title: title, Steps: steps, Desc: "Nothing is known yet."}
	if most, last := s.most(), steps; len(last) > 0 && most >= 0 {
		now := "not known"
		if at := last[len(last)-1]; at != nil {
			now = strconv.FormatInt(*at, 10)
		}
		s.Desc = fmt.Sprintf("At most %d %s; the latest value is %s.", most, unit, now)
	}
	return s
}

// most returns the highest value, or -1 if none is known.
func (s Spark) most() int64 {
	most := int64(-1)
	for _, v := range s.Steps {
		if v != nil {
			most = max(most, *v)
		}
	}
	return most
}

// lines returns the points of each stretch without a gap; a single value is a short line. The newest value is at the
// right. steps is the number of steps for which the full width is used.
func (s Spark) lines(steps int) []string {
	top := float64(max(s.most(), 1))
	dx := float64(sparkWide) / float64(max(steps-1, 1))
	var out []string
	var points []string
	flush := func() {
		if len(points) == 1 {
			points = append(points, points[0])
		}
		if len(points) > 0 {
			out = append(out, strings.Join(points, " "))
		}
		points = nil
	}
	for i, v := range s.Steps {
		if v == nil {
			flush()
			continue
		}
		x := float64(sparkWide) - float64(len(s.Steps)-1-i)*dx
		y := float64(sparkHigh-2) - float64(*v)/top*float64(sparkHigh-4)
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	flush()
	return out
}

// Bar is one bar of a histogram.
type Bar struct {
	Label string // upper bound
	N     int
}

// Histogram counts durations.
type Histogram struct {
	ID    string
	Title string
	Desc  string
	Bars  []Bar
}

type rect struct{ x, y, w, h string }

// rects returns the bars as drawn. A value above 0 is always visible.
func (h Histogram) rects() []rect {
	most := 1
	for _, b := range h.Bars {
		most = max(most, b.N)
	}
	step := float64(barsWide) / float64(max(len(h.Bars), 1))
	out := make([]rect, 0, len(h.Bars))
	for i, b := range h.Bars {
		high := float64(b.N) / float64(most) * barsHigh
		if b.N > 0 {
			high = max(high, 2)
		}
		out = append(out, rect{
			x: fmt.Sprintf("%.1f", float64(i)*step+1), y: fmt.Sprintf("%.1f", barsHigh-high),
			w: fmt.Sprintf("%.1f", step-2), h: fmt.Sprintf("%.1f", high),
		})
	}
	return out
}

// Within returns the duration in words for a sentence with "within": at least a second.
func Within(d time.Duration) string { return Duration(max(d, time.Second)) }

// Duration returns a duration in its two largest units: 4 min 20 s.
func Duration(d time.Duration) string {
	if d < time.Second {
		return "less than a second"
	}
	d = d.Round(time.Second)
	h, m, s := int(d/time.Hour), int(d/time.Minute)%60, int(d/time.Second)%60
	switch {
	case h > 0 && m > 0:
		return fmt.Sprintf("%d h %d min", h, m)
	case h > 0:
		return fmt.Sprintf("%d h", h)
	case m > 0 && s > 0:
		return fmt.Sprintf("%d min %d s", m, s)
	case m > 0:
		return fmt.Sprintf("%d min", m)
	}
	return fmt.Sprintf("%d s", s)
}
