package page

import (
	"cmp"
	"strings"

	"github.com/portico-platform/portico/portal/humanize"
)

// ViewOnly returns the text for users whose role cannot request.
func ViewOnly(s Space) string {
	return "Your role in " + s.Team.Name + " can view, but not request. " + WhomToAsk(s)
}

// WhomToAsk returns who can do what the user cannot.
func WhomToAsk(s Space) string {
	if s.Namespace == "" {
		return "Ask a platform admin."
	}
	return "Ask a developer of the team."
}

// What removes "S3Bucket is" or "WebApp" from a kind's description, because the tile already has its name.
func What(kind, help string) string {
	for _, lead := range []string{kind + " is ", kind + " are ", kind + " "} {
		if rest, ok := strings.CutPrefix(help, lead); ok && rest != "" {
			return humanize.Sentence(rest)
		}
	}
	return humanize.Sentence(cmp.Or(help, kind))
}
