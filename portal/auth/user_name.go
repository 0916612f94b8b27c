package auth

import (
	"fmt"
	"strings"

	"github.com/portico-platform/portico/api/identity"
)

// maxUsername bounds the names that are checked; members of Teams have the same limit.
const maxUsername = 256

// Named is a user of the identity provider whom somebody entered by name.
type Named struct {
	// Username is the name in Kubernetes.
	Username string
	// Sure says that it was written as user:NAME. A group can have the same name.
	Sure bool
}

// NoUserError is why a text names no user. Its text is for the user who entered it.
type NoUserError struct{ Why string }

func (e *NoUserError) Error() string { return e.Why }

// NameUser parses the name of a user as people write it: with or without the prefix of users in Kubernetes, and with or
// without a leading user:. Its errors are *NoUserError.
func NameUser(prefix, text string) (Named, error) {
	var n Named
	name := strings.TrimSpace(text)
	if !strings.HasPrefix(name, prefix) {
		name, n.Sure = strings.CutPrefix(name, "user:")
	}
	why := ""
	switch {
	case name == "":
		why = "name a user"
	case len(name) > maxUsername:
		why = fmt.Sprintf("that is longer than the name of any user: %d characters at most", maxUsername)
	case strings.HasPrefix(name, serviceAccountPrefix):
		why = name + " is a ServiceAccount: it never signs in, and has no sessions. Its tokens end when it is deleted"
	case strings.HasPrefix(name, "group:") && !strings.HasPrefix(name, prefix):
		why = groupWords(strings.TrimPrefix(name, "group:"))
	default:
		name = strings.TrimPrefix(name, prefix)
		if err := identity.CheckName("username", name); err != nil {
			why = err.Error()
		}
	}
	if why != "" {
		return Named{}, &NoUserError{why}
	}
	n.Username = prefix + name
	return n, nil
}

// GroupError returns the error for the name of a group that was entered as a user.
func GroupError(name string) error {
	return &NoUserError{groupWords(name) + ". If a user is called so too, write user:" + name}
}

func groupWords(group string) string {
	return group + " is a group, and sessions are of users: name each of its members"
}
