package views

import "strings"

// Confirming is what a page says of the fresh sign-in that it takes.
type Confirming struct {
	// Href is where the user signs in again, to come back; "" while a sign-in counts.
	Href  string
	Until Moment // while one counts
	Stale string // what came to nothing for want of it; may be empty
}

// Secrets is the page where values of a namespace's Secrets are set.
type Secrets struct {
	Frame    Frame
	Sent     bool   // it answers a form
	Off      bool   // an admin has switched it off
	Problem  string // why what was asked for was not done, or nothing can be done now
	Confirm  Confirming
	Done     string      // what has just been done
	Uses     []SecretUse // that take the new value, each in its own way
	Unlisted string      // why there is no list
	All      []Secret
	Form     SecretForm
}

// Secret is one whose values people set, without values.
type Secret struct {
	Name    string
	Created Moment
	Keys    []SecretKey
	Uses    []SecretUse
}

// SecretKey is a key of a Secret; By is "" if it was set in another way.
type SecretKey struct {
	Name string
	At   Moment
	By   string
}

// SecretUse is an object whose spec names a Secret. Effect says when it takes a new value.
type SecretUse struct {
	Kind, Name, Href, Effect string
	Restart                  string // address of the page that restarts it, "" for what does not run in Pods
}

// SecretForm is what was entered, but for the value: that is never sent back.
type SecretForm struct {
	Name, Key                       string
	NameError, KeyError, ValueError string
}

// SecretDelete is the page that asks before a Secret, or one key of it, is deleted.
type SecretDelete struct {
	Frame   Frame
	Name    string
	Key     string // "" for all of it
	Uses    []SecretUse
	Confirm Confirming
	Typed   string
	Error   string // beside the input
	Problem string
	Gone    bool // there is no such thing
}

func (s SecretDelete) what() string {
	if s.Key != "" {
		return s.Key + " of " + s.Name
	}
	return s.Name
}

// asks reports whether the name is to be typed: what uses the Secret cannot start without it.
func (s SecretDelete) asks() bool { return s.Key == "" && len(s.Uses) > 0 }

func (s SecretDelete) effects() []Effect {
	if s.Key != "" {
		return []Effect{
			{Icon: "bin", Tone: "warn", Text: "The value of " + s.Key + " is gone, and nobody can bring it back: Portico keeps no copy."},
			{Icon: "check", Tone: "good", Text: "The other keys of " + s.Name + " stay."},
		}
	}
	return []Effect{{Icon: "bin", Tone: "warn", Text: "All values of " + s.Name + " are gone, and cannot be restored: Portico keeps no copy."}}
}

// PasswordView is the page that shows the password of a resource once.
type PasswordView struct {
	Frame    Frame
	Resource Resource
	Secret   string // that holds it; "" if there is none yet
	Off      bool
	Problem  string
	Confirm  Confirming
	// Own says what a user of the reader's own can do in the database; "" where the password is the object's.
	Own string
	// Master is the address where the master password is shown beside that; "" for those who may not see it.
	Master   string
	IsMaster bool
	Shown    bool
	Password string
	Facts    []Fact // what it takes beside the password
}

// heading returns what the page asks, or shows.
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

// action returns where the question is answered.
func (p PasswordView) action() string {
	if p.IsMaster {
		return MasterPasswordPath(p.Resource.Href)
	}
	return PasswordPath(p.Resource.Href)
}

// Connect is how to reach a resource, and what to sign in there with.
type Connect struct {
	Secret   string
	Password bool   // there is one
	Show     string // address of the page that shows it, "" for who may not see it
	Own      bool   // that of a user of one's own
	CLI      string // a command, "" for none
}

// NamedSecret is one from which an application takes variables.
type NamedSecret struct {
	Name, Href string
	Keys       []string // none: all of them
}
