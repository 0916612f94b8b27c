package views

import "strings"

// Confirming is the part of a page about the recent sign-in that an action requires.
type Confirming struct {
	// Href is the URL where the user signs in again and returns; "" while a recent sign-in is valid.
	Href  string
	Until Moment // the end of its validity
	Stale string // what was not done because it was missing; can be empty
}

// Secrets is the page where values of a namespace's Secrets are set.
type Secrets struct {
	Frame    Frame
	Sent     bool   // the page answers a posted form
	Off      bool   // an admin has switched the feature off
	Problem  string // why the request failed, or nothing can be done now
	Confirm  Confirming
	Done     string      // what has just been done
	Uses     []SecretUse // what uses the changed Secret
	Unlisted string      // why there is no list
	All      []Secret
	Form     SecretForm
}

// Secret is a Secret whose values people set, without the values.
type Secret struct {
	Name    string
	Created Moment
	Keys    []SecretKey
	Uses    []SecretUse
}

// SecretKey is a key of a Secret, and who set it when. At and By are empty if it was not set through Portico.
type SecretKey struct {
	Name string
	At   Moment
	By   string
}

// SecretUse is an object whose spec names a Secret. Effect says when it takes a new value.
type SecretUse struct {
	Kind, Name, Href, Effect string
	Restart                  string // URL of the page that restarts it, "" if it does not run in Pods
}

// SecretForm is what was entered, without the value, which is never sent back.
type SecretForm struct {
	Name, Key                       string
	NameError, KeyError, ValueError string
}

// SecretDelete is the page that asks for confirmation before a Secret, or one key of it, is deleted.
type SecretDelete struct {
	Frame   Frame
	Name    string
	Key     string // "" for the whole Secret
	Uses    []SecretUse
	Confirm Confirming
	Typed   string
	Error   string // beside the input
	Problem string
	Gone    bool // the Secret or the key does not exist
}

func (s SecretDelete) what() string {
	if s.Key != "" {
		return s.Key + " of " + s.Name
	}
	return s.Name
}

// asks reports whether the user has to type the name, because what uses the Secret cannot start without it.
func (s SecretDelete) asks() bool { return s.Key == "" && len(s.Uses) > 0 }

func (s SecretDelete) effects() []Effect {
	if s.Key != "" {
		return []Effect{
			{Icon: "bin", Tone: "warn", Text: "The value of " + s.Key + " is gone, and nobody can bring it back: Portico keeps no copy."},
			{Icon: "check", Tone: "good", Text: "The other keys of " + s.Name + " stay."},
		}
	}
	return []Effect{{Icon: "bin", Tone: "warn", Text: "All values of " + s.Name + " are gone, and cannot be " +
		"restored: Portico keeps no copy."}}
}

// PasswordView is the page that shows the password of a resource once.
type PasswordView struct {
	Frame    Frame
	Resource Resource
	Secret   string // that contains the password; "" if there is none yet
	Off      bool
	Problem  string
	Confirm  Confirming
	// Own says what the reader's own user can do in the database; "" if the password is the object's.
	Own string
	// Master is the URL of the page with the master password; "" for users who cannot see it.
	Master   string
	IsMaster bool
	Shown    bool
	Password string
	Facts    []Fact // the other connection details
}

// heading returns the question that the page asks, or what it shows.
func (p PasswordView) heading() string {
	of := "the password of " + p.Resource.Name
	switch {
	case p.IsMaster:
		of = "the master password of " + p.Resource.Name
	case p.Own != "" && !p.Shown:
		return "Sign in to " + p.Resource.Name + " as yourself?"
	case p.Own != "":
		return "Your user in " + p.Resource.Name
	}
	if p.Shown {
		return strings.ToUpper(of[:1]) + of[1:]
	}
	return "Show " + of + "?"
}

// action returns the URL to which the answer is posted.
func (p PasswordView) action() string {
	if p.IsMaster {
		return MasterPasswordPath(p.Resource.Href)
	}
	return PasswordPath(p.Resource.Href)
}

// Connect says how to connect to a resource, and with which credentials.
type Connect struct {
	Secret   string
	Password bool   // the Secret contains a password
	Show     string // URL of the page that shows it, "" for users who cannot see it
	Own      bool   // it is that of the reader's own user
	CLI      string // a command, "" for none
}

// NamedSecret is a Secret from which an application takes variables.
type NamedSecret struct {
	Name, Href string
	Keys       []string // empty: all keys
}
