// Package auth says who is calling: users by OpenID Connect and a sealed session cookie, programs by bearer token.
package auth

import (
	"cmp"
	"context"
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
	if err := checkName("username", id.Username); err != nil {
		return err
	}
	for _, g := range id.Groups {
		if err := checkName("group", g); err != nil {
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

// checkName refuses names of the system in any spelling that a prefix or white space could hide, and those that would be
// others where Kubernetes hears of them: HTTP drops blanks around a header's value. Its errors are for the user.
func checkName(what, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("it has an empty %s", what)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("the %s %q begins or ends with a blank", what, name)
	case strings.ContainsFunc(name, unprintable):
		return fmt.Errorf("the %s %q has characters that cannot be printed", what, name)
	case isSystem(name):
		return fmt.Errorf("the %s %q is one that Kubernetes keeps for itself", what, name)
	}
	return nil
}

func isSystem(name string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(name)), systemPrefix)
}

func unprintable(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }

type contextKey int

const (
	identityKey contextKey = iota
	requestKey
	sessionKey
	outageKey
	addressKey
)

// WithIdentity returns a context for a request made by id.
func WithIdentity(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey, id)
}

// FromContext returns the caller of the request, and false when nobody is signed in.
func FromContext(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey).(Identity)
	return id, ok
}

// ErrBadToken says that a bearer token is not valid here.
var ErrBadToken = errors.New("the token is not valid for this API")
