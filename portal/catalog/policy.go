package catalog

import "regexp"

// denied matches the API server's error for a denial by a policy, and told the field with which our policies' messages
// begin.
var (
	denied = regexp.MustCompile(`(?s)^ValidatingAdmissionPolicy '[^']*' with binding '[^']*' denied request: (.*)$`)
	told   = regexp.MustCompile(`(?s)^(spec(?:\.[A-Za-z]+)+): (.*)$`)
)

// ofPolicy returns the message of an admission policy and the field with which it begins; other messages are returned
// unchanged.
func ofPolicy(message string) (words, field string) {
	said := denied.FindStringSubmatch(message)
	if said == nil {
		return message, ""
	}
	if at := told.FindStringSubmatch(said[1]); at != nil {
		return at[2], at[1]
	}
	return said[1], ""
}
