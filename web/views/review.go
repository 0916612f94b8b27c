package views

// Line is one line of YAML in a comparison.
type Line struct {
	Text string
	Mark string // "plus": the platform adds it, "minus": it removes it, "fold": lines are omitted, "": as requested
}

// Value is a part of an object with its value.
type Value struct{ Label, Text string }

// Review is the page after the form, on which the user confirms the request or the change.
type Review struct {
	Form     Form
	Name     string
	Lines    []Line
	Added    int // lines that the platform fills in
	Nothing  bool
	Defaults []Value // of an edit: what the platform fills in
	Effects  []Effect
	HoldUps  []string // why it cannot become ready at present
	Warnings []string
	Says     string  // what is requested, in a sentence
	Settings []Value // the other settings of a request, or what an edit changes
}

// Conflict is the page for a change of an object that somebody else has changed meanwhile. Form contains the version
// that the user began with, and the user's.
type Conflict struct {
	Form     Form
	Name     string
	Anew     bool   // the object was replaced by another one with its name
	ETag     string // of the other user's version
	Theirs   string // YAML of the other user's version
	Both     []Versions
	OnlyThem []Versions
	OnlyMe   []Versions
}

// The values of a choice in a conflict.
const (
	TakeTheirs = "theirs"
	TakeMine   = "mine"
)

// Versions are the values of a part of an object: the original one, and those of two users. Input is the name of the
// choice between the two.
type Versions struct {
	Input, Label        string
	Began, Theirs, Mine string
	Taken               string // TakeTheirs, TakeMine, or "" before the choice
	Error               string
}

func (v Versions) id() string { return ID(v.Input) }

// Vanished is the page for a change of an object that was deleted meanwhile. Form contains what was entered.
type Vanished struct {
	Form Form
	Name string
	Anew string // URL of the form that requests it again, "" without the right
}
