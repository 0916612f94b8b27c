package views

import "strconv"

// ActivityRow is one action of a user through the portal.
type ActivityRow struct {
	Text     string // who did what
	Icon     string
	Kind     string // of the object
	Resource Choice // the object; without a link if it is gone
	Team     Choice
	Count    int32
	At       Moment
}

// Activity is the recent activity, newest first.
type Activity struct {
	Rows   []ActivityRow
	More   bool // there is more than Rows
	Hidden bool // the user has no right to it
}

// times returns how often something happened, "" for once.
func times(count int32) string {
	if count < 2 {
		return ""
	}
	return "(" + strconv.Itoa(int(count)) + " times)"
}

// Why there is nothing to see, or not everything.
const (
	activityKept  = "newest first; Kubernetes keeps it for about an hour"
	activityOther = "Changes made with kubectl are not shown here."
)
