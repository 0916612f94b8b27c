package identity

import "maps"

// shown are the claims by which people are shown.
var shown = []string{"name", "email", "preferred_username"}

// Lacks reports whether an ID token does not say what decides about rights: the username or the groups. Groups that the
// provider keeps elsewhere because they are too many are not lacking: it has said so.
func (cfg Claims) Lacks(c ClaimSet) bool {
	return c.Text(cfg.Username) == "" || cfg.lacksGroups(c) || cfg.Username == "email" && c["email_verified"] == nil
}

// LacksNames reports whether an ID token does not say by which name people know its user.
func (c ClaimSet) LacksNames() bool { return c.Text("name") == "" || c.Text("email") == "" }

// Filled returns the claims of an ID token with what it lacks out of those of the userinfo endpoint, which must be
// about the same user. What the ID token says counts.
func (cfg Claims) Filled(c, more ClaimSet) ClaimSet {
	out := maps.Clone(c)
	if raw, ok := more.At(cfg.Groups); ok && cfg.lacksGroups(c) {
		out[cfg.Groups] = raw
	}
	for _, name := range append([]string{cfg.Username}, shown...) {
		if raw, ok := more[name]; ok && c.Text(name) == "" {
			out[name] = raw
		}
	}
	// That an address is verified is said of the address beside it.
	if raw, ok := more["email_verified"]; ok && c["email_verified"] == nil && out.Text("email") == more.Text("email") {
		out["email_verified"] = raw
	}
	return out
}

func (cfg Claims) lacksGroups(c ClaimSet) bool {
	_, has := c.At(cfg.Groups)
	return !has && !c.elsewhere(cfg.Groups)
}
