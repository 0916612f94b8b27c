package catalog

import "regexp"

// denied is how the API server says what a policy said, and told the field that our policies begin with.
var (
	denied = regexp.MustCompile(`(?s)^ValidatingAdmissionPolicy '[^']*' with binding '[^']*' denied request: (.*)$`)
	told   = regexp.MustCompile(`(?s)^(spec(?:\.[A-Za-z]+)+): (.*)$`)
)

// ofPolicy returns the words of an admission policy, and the field that they begin with; else the message as it is.
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
