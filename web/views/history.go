package views

import "strconv"

// BackTo is the parameter of the address of an edit that leads to an earlier version: its generation.
const BackTo = "back"

// History is what a resource was like, and who changed it.
type History struct {
	Versions []PastVersion // the newest first
	Kept     int           // how many there are at most
	Before   string        // why there are none before the oldest; "" if that is how it was requested
	Pending  string        // what is not among them; "" if all is
}

// PastVersion is one state of what is asked for.
type PastVersion struct {
	Title   string
	Way     string // by which it was changed; may be empty
	Icon    string
	At      Moment
	Now     bool       // it is what holds
	Note    string     // about the changes; may be empty
	Changes []Versions // to the version before, as theirs
	Back    string     // address of what leads back to it, "" for nothing, and for those who may not
}

// BackPath returns the address of the review that leads the resource back to a generation.
func BackPath(resource string, generation int64) string {
	return resource + "/edit?" + BackTo + "=" + strconv.FormatInt(generation, 10)
}
