package views

import "net/url"

// SessionsPath is the path of the page that ends sessions of users.
const SessionsPath = AdminPath + "/sessions"

// SessionsOf returns the path of the page that asks for confirmation before a user's sessions are ended.
func SessionsOf(username string) string {
	return SessionsPath + "?" + url.Values{"user": {username}}.Encode()
}

// Sessions is the page that ends the sessions of a user: it asks for the user, then for confirmation, and then reports
// that it is done.
type Sessions struct {
	Frame    Frame
	Prefix   string // of the names of users
	Entered  string
	Error    string // in what was entered
	Username string // in Kubernetes; "" before a user was entered
	Called   string // the user's name for people
	Known    bool   // the user has used the portal since it started
	Self     bool   // the user is the reader
	Done     bool
}

// title returns the question, or that it is done.
func (s Sessions) title() string {
	switch {
	case s.Done && s.Self:
		return "Your own sessions have ended"
	case s.Done:
		return "The sessions have ended"
	case s.Self:
		return "End all your own sessions?"
	case s.Username != "":
		return "End all sessions of this user?"
	}
	return "End the sessions of a user"
}

// back returns the path of the page to return to. Not every user who can end sessions has access to the admin pages.
func (s Sessions) back() string {
	if s.Frame.Admin {
		return AdminPath
	}
	return "/"
}

// effects returns what ending the sessions will do.
func (s Sessions) effects() []Effect {
	all := []Effect{
		{Icon: "lock", Tone: "warn", Text: "Within seconds, every page that the user has open in a browser ends, and asks to sign in again. What somebody is entering there stays."},
		{Icon: "lock", Tone: "warn", Text: "Tokens that the user has for the REST API and the command line are refused, if they were issued until now. What they watch or follow ends, too."},
	}
	if s.Self {
		all = append(all, Effect{Icon: "alert", Tone: "warn", Text: "These are your own sessions: you will have to " +
			"sign in again, here too."})
	}
	if !s.Known && !s.Self {
		all = append(all, Effect{Icon: "alert", Tone: "warn", Text: "Nobody with this name signed in here lately. " +
			"Check the spelling; it can still be right."})
	}
	return append(append(all, Effect{Icon: "check", Tone: "good", Text: "What the user requested stays and keeps " +
		"running."}), s.rest()...)
}

// rest returns what is not ended, and how to end it.
func (s Sessions) rest() []Effect {
	return []Effect{
		{Icon: "info", Tone: "idle", Text: "The user can sign in again at once. To prevent that, block the account " +
			"at the identity provider first, which may otherwise let the user in without asking for anything."},
		{Icon: "info", Tone: "idle", Text: "What the user can do outside the portal, with kubectl, is not affected: " +
			"remove the user from the teams for that. A token that the cluster takes lasts until it expires, as the " +
			"identity provider has set it."},
	}
}
