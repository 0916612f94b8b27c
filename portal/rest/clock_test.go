package rest

import "time"

func nowZero() time.Time { return time.Time{} }

// fixedClock always returns the same time.
type fixedClock struct{}

func (fixedClock) Now() time.Time                  { return time.Time{} }
func (fixedClock) Since(t time.Time) time.Duration { return time.Time{}.Sub(t) }
