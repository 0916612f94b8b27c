// Package identity says whose an ID token is, and as whom Kubernetes knows the caller. Portal and operator verify by
// it, each for itself.
package identity

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Identity is a verified caller. Username and Groups are what Kubernetes RBAC knows the caller by: prefixed for
// users, and for ServiceAccounts system:serviceaccount:<namespace>:<name> with its fixed groups.
type Identity struct {
	Username       string
	Groups         []string
	Name           string // for people, may be empty
	Email          string // may be empty
	ServiceAccount bool
}

// Display returns the name of the caller for a page: the full name, else the e-mail address, else the username.
func (id Identity) Display() string { return cmp.Or(id.Name, id.Email, id.Username) }

const (
	systemPrefix         = "system:"
	serviceAccountPrefix = "system:serviceaccount:"
)

// Check refuses identities that must never reach Kubernetes: without a username, with control characters, of the
// system (ServiceAccounts apart, which carry no groups of their own), or with more groups than a request can carry.
func (id Identity) Check() error {
	if id.Username == "" {
		return errors.New("identity without a username")
	}
	if id.ServiceAccount {
		return id.checkServiceAccount()
	}
	if err := CheckName("username", id.Username); err != nil {
		return err
	}
	for _, g := range id.Groups {
		if err := CheckName("group", g); err != nil {
			return err
		}
	}
	return nil
}

func (id Identity) checkServiceAccount() error {
	ns, name, ok := ServiceAccountName(id.Username)
	if !ok {
		return fmt.Errorf("%q is not the username of a ServiceAccount", id.Username)
	}
	want := []string{"system:serviceaccounts", "system:serviceaccounts:" + ns}
	for _, g := range id.Groups {
		if !slices.Contains(want, g) {
			return fmt.Errorf("ServiceAccount %s/%s with the group %q", ns, name, g)
		}
	}
	return nil
}

// ServiceAccountName cuts system:serviceaccount:<namespace>:<name>.
func ServiceAccountName(username string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(username, serviceAccountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", "", false
	}
	return namespace, name, true
}

// CheckName refuses names of the system in any spelling that a prefix or white space could hide, and those that would
// be others where Kubernetes hears of them: HTTP drops blanks around a header's value. Its errors are for the user.
func CheckName(what, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("it has an empty %s", what)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("the %s %q begins or ends with a blank", what, name)
	case strings.ContainsFunc(name, Unprintable):
		return fmt.Errorf("the %s %q has characters that cannot be printed", what, name)
	case IsSystem(name):
		return fmt.Errorf("the %s %q is one that Kubernetes keeps for itself", what, name)
	}
	return nil
}

// IsSystem reports whether Kubernetes keeps the name for itself.
func IsSystem(name string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(name)), systemPrefix)
}

// Unprintable reports whether r has no place in a name. Characters without a width, and those that change the direction
// of writing, make one name look like another.
func Unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar
}

// ErrBadToken says that a token is not valid here.
var ErrBadToken = errors.New("the token is not valid for this API")

// RefusedError says why a user may not come in; Reason is for the user.
type RefusedError struct {
	Reason string
	Cause  error // for the log, may be nil
}

func (e *RefusedError) Error() string {
	if e.Cause == nil {
		return e.Reason
	}
	return e.Reason + " " + e.Cause.Error()
}

func (e *RefusedError) Unwrap() error { return e.Cause }

// ProviderError says that the identity provider could not be asked.
type ProviderError struct {
	Doing string
	Cause error
}

func (e *ProviderError) Error() string { return e.Doing + ": " + e.Cause.Error() }

func (e *ProviderError) Unwrap() error { return e.Cause }

// Longest bounds texts of others in errors.
const Longest = 300

// Clean makes s fit for a page and for a line of a log: printable characters and single blanks only, cut at Longest
// runes.
func Clean(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)), " ")
	if runes := []rune(s); len(runes) > Longest {
		return string(runes[:Longest]) + "…"
	}
	return s
}
