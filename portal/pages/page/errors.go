package page

import (
	"errors"
	"strings"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

// Errors of requests, each with its own error page.
var (
	errNobody = errors.New("the request has no identity")
	ErrNoPage = errors.New("there is no such page")
	ErrNoPod  = errors.New("there is no such Pod")
	ErrNoTeam = errors.New("the user may look into no team")
	ErrForm   = errors.New("the form could not be read")
	ErrLarge  = errors.New("the form is too large")
)

// NoLogError is why a container has no log. Its text is for the user. Never means that it will have none.
type NoLogError struct {
	Words string
	Never bool
}

func (e *NoLogError) Error() string { return e.Words }

// AdmissionWords returns the message of a refusal without the API server's introduction.
func AdmissionWords(err error) string {
	words := err.Error()
	for _, lead := range []string{"forbidden: ", "denied request: ", "is invalid: "} {
		if _, rest, ok := strings.Cut(words, lead); ok {
			words = rest
		}
	}
	return catalog.QuotaWords(words)
}

// Unseen reports whether err is a missing right: the rest of the page is shown without that part.
func Unseen(err error) bool {
	return failure.IsForbidden(err)
}

// Hiding returns err, unless it is a missing right: then it sets hidden and returns nil.
func Hiding(hidden *bool, err error) error {
	if Unseen(err) {
		*hidden = true
		return nil
	}
	return err
}
