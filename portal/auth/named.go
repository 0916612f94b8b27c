package auth

import (
	"fmt"
	"strings"

	"github.com/portico-platform/portico/api/identity"
)

// maxUsername bounds the names that are looked at; members of Teams have no longer ones.
const maxUsername = 256

// Named is a user of the identity provider whom somebody named.
type Named struct {
	// Username is as Kubernetes knows it.
	Username string
	// Sure says that it was written as user:NAME. A group may have the same name.
	Sure bool
}

// NoUserError says why what somebody wrote names no user. Its text is for them.
type NoUserError struct{ Why string }

func (e *NoUserError) Error() string { return e.Why }

// NameUser reads the name of a user as people write it: with the prefix that Kubernetes knows users by or without it,
// and with user: in front or not. Its errors are *NoUserError.
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

// GroupError returns the error for the name of a group that was taken for that of a user.
func GroupError(name string) error {
	return &NoUserError{groupWords(name) + ". If a user is called so too, write user:" + name}
}

func groupWords(group string) string {
	return group + " is a group, and sessions are of users: name each of its members"
}
