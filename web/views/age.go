// Package views holds the portal's pages as templ components over plain view models.
package views

import (
	"fmt"
	"time"
)

// Moment is a point in time as a page shows it: how long ago or in how long, and the exact time on hover.
type Moment struct {
	At  time.Time // zero: unknown, shown as nothing
	Now time.Time
}

const (
	day   = 24 * time.Hour
	month = 30 * day
	year  = 365 * day
)

// Age returns how long ago the moment was, in its largest unit: 3 min, 2 days. static/portico.js has the same words.
func (m Moment) Age() string {
	if m.At.IsZero() {
		return ""
	}
	return words(m.Now.Sub(m.At))
}

// words returns a duration in its largest unit, or "now" below a second.
func words(d time.Duration) string {
	for _, u := range []struct {
		size     time.Duration
		one, any string
	}{
		{year, "year", "years"},
		{month, "month", "months"},
		{day, "day", "days"},
		{time.Hour, "h", "h"},
		{time.Minute, "min", "min"},
		{time.Second, "s", "s"},
	} {
		switch n := int(d / u.size); {
		case n == 1:
			return "1 " + u.one
		case n > 1:
			return fmt.Sprintf("%d %s", n, u.any)
		}
	}
	return "now"
}

// Ago returns the age with "ago" where that reads well.
func (m Moment) Ago() string {
	if a := m.Age(); a != "" && a != "now" {
		return a + " ago"
	}
	return m.Age()
}

// In returns how long it is until the moment, or "now" when it has come.
func (m Moment) In() string {
	if m.At.IsZero() {
		return ""
	}
	if w := words(m.At.Sub(m.Now)); w != "now" {
		return "in " + w
	}
	return "now"
}

// Exact returns the moment to the second, in UTC, for people.
func (m Moment) Exact() string { return m.At.UTC().Format("2 January 2006, 15:04:05 UTC") }

// Machine returns the moment for the datetime attribute.
func (m Moment) Machine() string { return m.At.UTC().Format(time.RFC3339) }
