package identity

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Claims say under which names Kubernetes knows those whom an identity provider names.
type Claims struct {
	Username string // the claim that holds the username: sub, or one that RoleBindings name people by
	Groups   string // that which holds the groups; it may be a path, as realm_access.roles
	// GroupsOptional lets in who has no groups claim, as one who is in no group; else that is taken for a mistake in
	// the settings.
	GroupsOptional bool
	Prefix         string // in front of usernames and groups; the API server's own must be the same
}

// Check refuses settings by which a provider could name users of the system.
func (cfg Claims) Check() error {
	switch {
	case cfg.Username == "" || cfg.Groups == "":
		return errors.New("the username claim and the groups claim must not be empty")
	case cfg.Prefix == "" || IsSystem(cfg.Prefix):
		return fmt.Errorf("prefix %q: it must be neither empty nor begin with system:, or the identity provider "+
			"could name Kubernetes' own users", cfg.Prefix)
	case strings.TrimLeftFunc(cfg.Prefix, unicode.IsSpace) != cfg.Prefix ||
		strings.ContainsFunc(cfg.Prefix, Unprintable):
		return fmt.Errorf("prefix %q: it must not begin with a blank, which HTTP drops, nor have characters that "+
			"cannot be printed", cfg.Prefix)
	}
	return nil
}

// ClaimSet is what a verified token says, by name.
type ClaimSet map[string]json.RawMessage

// At returns the claim with that name, else the one at the path: realm_access.roles is roles of realm_access. At each
// step the longest matching name wins, because names can contain dots.
func (c ClaimSet) At(path string) (json.RawMessage, bool) {
	if raw, ok := c[path]; ok {
		return raw, true
	}
	for i := strings.LastIndexByte(path, '.'); i > 0; i = strings.LastIndexByte(path[:i], '.') {
		var inner ClaimSet
		if json.Unmarshal(c[path[:i]], &inner) != nil {
			continue
		}
		if raw, ok := inner.At(path[i+1:]); ok {
			return raw, true
		}
	}
	return nil, false
}

// elsewhere reports whether the provider left the claim out because the token would be too long, and offers it at an
// endpoint. OpenID Connect uses _claim_names for that; Entra ID also hasgroups or groups:src1.
func (c ClaimSet) elsewhere(claim string) bool {
	var names ClaimSet
	_ = json.Unmarshal(c["_claim_names"], &names) // most tokens have none
	_, named := names[claim]
	_, short := c[claim+":src1"]
	return named || short || claim == "groups" && string(c["hasgroups"]) == "true"
}

// names lists the names of the claims, sorted, for messages to people who look for the right one.
func (c ClaimSet) names() string { return strings.Join(slices.Sorted(maps.Keys(c)), ", ") }

// Text returns the claim as text, or "" if it is missing or no string.
func (c ClaimSet) Text(name string) string {
	var s string
	if json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return s
}

// Who returns the caller whom the claims of a verified token describe. A *RefusedError says why this user may not come
// in.
func (cfg Claims) Who(c ClaimSet) (Identity, error) {
	username, err := cfg.username(c)
	if err != nil {
		return Identity{}, err
	}
	groups, err := cfg.groups(c)
	if err != nil {
		return Identity{}, err
	}
	id := Identity{Username: cfg.Prefix + username, Name: printable(c.Text("name")), Email: printable(c.Text("email"))}
	if cfg.Username != "preferred_username" {
		id.Name = cmp.Or(id.Name, printable(c.Text("preferred_username")))
	}
	for _, g := range groups {
		id.Groups = append(id.Groups, cfg.Prefix+g)
	}
	if err := id.Check(); err != nil {
		return Identity{}, unusable(err)
	}
	return id, nil
}

// printable returns a text that is only shown, without what has no place in a name.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if Unprintable(r) {
			return -1
		}
		return r
	}, text)
}

func (cfg Claims) username(c ClaimSet) (string, error) {
	username := c.Text(cfg.Username)
	if username == "" {
		return "", &RefusedError{
			Reason: fmt.Sprintf("Your account has no username: the identity provider did not send the claim %q. "+
				"Ask the people who run it to set one.", cfg.Username),
			Cause: c.has(),
		}
	}
	if cfg.Username == "email" {
		if err := c.verifiedEmail(); err != nil {
			return "", err
		}
	}
	if err := CheckName("username", username); err != nil {
		return "", unusable(err)
	}
	return username, nil
}

// verifiedEmail refuses an e-mail address as a username that anybody may have entered. Some providers say it as text.
func (c ClaimSet) verifiedEmail() error {
	switch said, ok := c["email_verified"]; {
	case string(said) == "true", string(said) == `"true"`:
		return nil
	case !ok:
		return &RefusedError{
			Reason: "The identity provider does not say whether your e-mail address is verified, and here it is the " +
				"username: " +
				`there is no claim "email_verified". Ask the people who run it to send it, or the portal's admins for another ` +
				"--oidc-username-claim.",
			Cause: c.has(),
		}
	}
	return &RefusedError{Reason: "Your e-mail address is not verified, and here it is the username. " +
		"Verify it at the identity provider, then sign in again."}
}

func (cfg Claims) groups(c ClaimSet) ([]string, error) {
	raw, ok := c.At(cfg.Groups)
	switch {
	case !ok && c.elsewhere(cfg.Groups):
		return nil, &RefusedError{Reason: "You are in more groups than the identity provider puts in a token, so " +
			"that it told none. Ask the people who run it to send only those that matter here: with Entra ID the " +
			"groups that are assigned to the application, " +
			"or app roles, for which the portal is set to --oidc-groups-claim=roles."}
	case !ok && cfg.GroupsOptional, string(raw) == "null":
		return nil, nil
	case !ok:
		return nil, &RefusedError{
			Reason: fmt.Sprintf("The identity provider did not say in which groups you are: there is no claim %q. "+
				"Ask the people who run it to send it. If it has another name, the portal needs that as "+
				"--oidc-groups-claim; "+
				"if those may come in who are in no group, --oidc-groups-optional.", cfg.Groups),
			Cause: c.has(),
		}
	}
	return cfg.groupNames(raw)
}

// groupNames returns the groups of a claim that holds a list or one name.
func (cfg Claims) groupNames(raw json.RawMessage) ([]string, error) {
	var groups []string
	if json.Unmarshal(raw, &groups) != nil {
		var one string
		if json.Unmarshal(raw, &one) != nil {
			return nil, &RefusedError{
				Reason: fmt.Sprintf("The identity provider sent the claim %q in a form that is not a list of groups. "+
					"Ask the people who run it to send names in it, or the portal's admins for another "+
					"--oidc-groups-claim.", cfg.Groups),
			}
		}
		groups = []string{one}
	}
	for _, g := range groups {
		if err := CheckName("group", g); err != nil {
			return nil, unusable(err)
		}
	}
	return groups, nil
}

// has returns the names of the claims for the log, without their values.
func (c ClaimSet) has() error { return errors.New("the token has the claims " + Clean(c.names())) }

// unusable refuses an account for a name, with checkName's error.
func unusable(name error) *RefusedError {
	return &RefusedError{Reason: "Your account cannot be used here: " + name.Error() +
		". Ask the people who run the identity provider to change it."}
}
