package auth

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// claimSet is what a verified token says, by name.
type claimSet map[string]json.RawMessage

// at returns the claim that is called so, else the one that the path leads to: realm_access.roles is roles of realm_access.
// At each step a name that stands there as it is wins, the longest first, for names have dots too.
func (c claimSet) at(path string) (json.RawMessage, bool) {
	if raw, ok := c[path]; ok {
		return raw, true
	}
	for i := strings.LastIndexByte(path, '.'); i > 0; i = strings.LastIndexByte(path[:i], '.') {
		var inner claimSet
		if json.Unmarshal(c[path[:i]], &inner) != nil {
			continue
		}
		if raw, ok := inner.at(path[i+1:]); ok {
			return raw, true
		}
	}
	return nil, false
}

// elsewhere reports whether the provider keeps the claim for who asks it, as it would make the token too long. OpenID Connect
// has _claim_names for that; Entra ID says hasgroups or groups:src1 as well.
func (c claimSet) elsewhere(claim string) bool {
	var names claimSet
	_ = json.Unmarshal(c["_claim_names"], &names) // most tokens have none
	_, named := names[claim]
	_, short := c[claim+":src1"]
	return named || short || claim == "groups" && string(c["hasgroups"]) == "true"
}

// names lists the names of the claims, sorted, for messages to people who look for the right one.
func (c claimSet) names() string { return strings.Join(slices.Sorted(maps.Keys(c)), ", ") }

// text returns the claim as text, or "" if it is missing or no string.
func (c claimSet) text(name string) string {
	var s string
	if json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return s
}

// who returns the caller whom the claims of a verified token describe. A *RefusedError says why this user may not come in.
func (cfg Config) who(c claimSet) (Identity, error) {
	username, err := cfg.username(c)
	if err != nil {
		return Identity{}, err
	}
	groups, err := cfg.groups(c)
	if err != nil {
		return Identity{}, err
	}
	id := Identity{Username: cfg.Prefix + username, Name: c.text("name"), Email: c.text("email")}
	if cfg.UsernameClaim != "preferred_username" {
		id.Name = cmp.Or(id.Name, c.text("preferred_username"))
	}
	for _, g := range groups {
		id.Groups = append(id.Groups, cfg.Prefix+g)
	}
	if err := id.Check(); err != nil {
		return Identity{}, unusable(err)
	}
	return id, nil
}

func (cfg Config) username(c claimSet) (string, error) {
	username := c.text(cfg.UsernameClaim)
	if username == "" {
		return "", &RefusedError{
			Reason: fmt.Sprintf("Your account has no username: the identity provider did not send the claim %q. "+
				"Ask whoever runs it to set one.", cfg.UsernameClaim),
			Cause: c.has(),
		}
	}
	if cfg.UsernameClaim == "email" && string(c["email_verified"]) != "true" {
		return "", &RefusedError{Reason: "Your e-mail address is not verified, and here it is the username."}
	}
	if err := checkName("username", username); err != nil {
		return "", unusable(err)
	}
	return username, nil
}

func (cfg Config) groups(c claimSet) ([]string, error) {
	raw, ok := c.at(cfg.GroupsClaim)
	switch {
	case !ok && c.elsewhere(cfg.GroupsClaim):
		return nil, &RefusedError{Reason: "You are in more groups than the identity provider puts in a token, so that it told none. " +
			"Ask whoever runs it to send only those that matter here: with Entra ID the groups that are assigned to the application, " +
			"or app roles, for which the portal is set to --oidc-groups-claim=roles."}
	case !ok && cfg.GroupsOptional, string(raw) == "null":
		return nil, nil
	case !ok:
		return nil, &RefusedError{
			Reason: fmt.Sprintf("The identity provider did not say in which groups you are: there is no claim %q. "+
				"Ask whoever runs it to send it. If it has another name, the portal needs that as --oidc-groups-claim; "+
				"if those may come in who are in no group, --oidc-groups-optional.", cfg.GroupsClaim),
			Cause: c.has(),
		}
	}
	return cfg.groupNames(raw)
}

// groupNames returns the groups of a claim that holds a list or one name.
func (cfg Config) groupNames(raw json.RawMessage) ([]string, error) {
	var groups []string
	if json.Unmarshal(raw, &groups) != nil {
		var one string
		if json.Unmarshal(raw, &one) != nil {
			return nil, &RefusedError{Reason: fmt.Sprintf("The identity provider sent the claim %q in a form that is not a list of groups. "+
				"Ask whoever runs it to send names in it, or the portal's admins for another --oidc-groups-claim.", cfg.GroupsClaim)}
		}
		groups = []string{one}
	}
	for _, g := range groups {
		if err := checkName("group", g); err != nil {
			return nil, unusable(err)
		}
	}
	return groups, nil
}

// has tells the log which claims there are; their values are nobody's business there.
func (c claimSet) has() error { return errors.New("the token has the claims " + clean(c.names())) }

// unusable refuses an account for a name, with checkName's error.
func unusable(name error) *RefusedError {
	return &RefusedError{Reason: "Your account cannot be used here: " + name.Error() + ". Ask whoever runs the identity provider to change it."}
}
