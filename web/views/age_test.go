package views

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "now", -time.Minute: "now", 999 * time.Millisecond: "now", time.Second: "1 s ago",
		59 * time.Second: "59 s ago",
		time.Minute:      "1 min ago", 3 * time.Hour: "3 h ago", 24 * time.Hour: "1 day ago", 12 * day: "12 days ago",
		31 * day: "1 month ago", 70 * day: "2 months ago", 366 * day: "1 year ago", 800 * day: "2 years ago",
	} {
		if got := (Moment{At: now.Add(-d), Now: now}).Ago(); got != want {
			t.Errorf("%v ago is %q, want %q", d, got, want)
		}
	}
	if got := (Moment{Now: now}).Ago(); got != "" {
		t.Errorf("an unknown time is %q", got)
	}
}

func TestInitials(t *testing.T) {
	for name, want := range map[string]string{
		"Developer of team payments": "DP", "payments-dev": "PD", "viewer": "V",
		"": "",
	} {
		if got := (Frame{User: name}).Initials(); got != want {
			t.Errorf("the initials of %q are %q, want %q", name, got, want)
		}
	}
}
