package views

import "strconv"

// BackTo is the URL parameter of an edit that restores an earlier version: its generation.
const BackTo = "back"

// History is a resource's versions, and who changed them.
type History struct {
	Versions []PastVersion // the newest first
	Kept     int           // maximum number
	Before   string        // why older versions are missing; "" if the oldest is the first
	Pending  string        // which changes are missing; "" if none are
}

// PastVersion is one version of the spec.
type PastVersion struct {
	Title   string
	Way     string // how it was changed, such as by kubectl; can be empty
	Icon    string
	At      Moment
	Now     bool       // it is the current one
	Note    string     // about the changes; can be empty
	Changes []Versions // since the previous version, which is Theirs
	Back    string     // URL of the edit that restores it, "" if it is current, or without the right
}

// BackPath returns the URL of the review that restores a generation.
func BackPath(resource string, generation int64) string {
	return resource + "/edit?" + BackTo + "=" + strconv.FormatInt(generation, 10)
}
