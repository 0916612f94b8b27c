package views

import "strconv"

// BackTo is the URL parameter of an edit that restores an earlier version: its generation.
const BackTo = "back"

// History is a resource's versions, and who changed them.
type History struct {
	Versions []PastVersion // the newest first
	Kept     int           // maximum number
	Before   string        // why there are none before the oldest; "" if that is how it was requested
	Pending  string        // which changes are not included; "" if all are
}

// PastVersion is one version of the spec.
type PastVersion struct {
	Title   string
	Way     string // by which it was changed; may be empty
	Icon    string
	At      Moment
	Now     bool       // it is the current one
	Note    string     // about the changes; may be empty
	Changes []Versions // to the version before, as theirs
	Back    string     // URL of the edit that restores it, "" if it is current, or without the right
}

// BackPath returns the URL of the review that restores a generation.
func BackPath(resource string, generation int64) string {
	return resource + "/edit?" + BackTo + "=" + strconv.FormatInt(generation, 10)
}
