package views

import "strconv"

// ActivityRow is one action of a user through the portal.
type ActivityRow struct {
	Text     string // who did what
	Icon     string
	Kind     string // of the object
	Resource Choice // the object; without a link if it does not exist any more
	Team     Choice
	Count    int32
	At       Moment
}

// Activity is the recent activity, newest first.
type Activity struct {
	Rows   []ActivityRow
	More   bool // there are more rows
	Hidden bool // the user has no right to see it
}

// times returns how often something happened, "" for once.
func times(count int32) string {
	if count < 2 {
		return ""
	}
	return "(" + strconv.Itoa(int(count)) + " times)"
}

// Messages that say why the activity is empty or incomplete.
const (
	activityKept  = "newest first; Kubernetes keeps it for about an hour"
	activityOther = "Changes made with kubectl are not shown here."
)
