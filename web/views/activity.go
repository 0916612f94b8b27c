package views

import "strconv"

// ActivityRow is one thing that somebody did through the portal.
type ActivityRow struct {
	Text     string // who did what
	Icon     string
	Kind     string // of what it was done to
	Resource Choice // the same by name; no address: it is gone
	Team     Choice
	Count    int32
	At       Moment
}

// Activity is what was done lately, the last thing first.
type Activity struct {
	Rows   []ActivityRow
	More   bool // there is more than Rows
	Hidden bool // the reader may not see it
}

// times says how often something happened, "" for once.
func times(count int32) string {
	if count < 2 {
		return ""
	}
	return "(" + strconv.Itoa(int(count)) + " times)"
}

// Why there is nothing to see, or not all.
const (
	activityKept  = "newest first; Kubernetes keeps it for about an hour"
	activityOther = "Changes made with kubectl are not shown here."
)
