package views

// Line is one line of YAML in a comparison.
type Line struct {
	Text string
	Mark string // "plus": the platform adds it, "minus": it takes it away, "fold": some lines are left out, "": as asked
}

// Value is a part of an object and what it holds.
type Value struct{ Label, Text string }

// Review is the page between the form and the request, or the change.
type Review struct {
	Form     Form
	Name     string
	Lines    []Line
	Added    int // lines that the platform fills in
	Nothing  bool
	Defaults []Value // what the platform fills in, of an edit
	Effects  []Effect
	HoldUps  []string // why it cannot become ready as things are
	Warnings []string
	Says     string  // what is requested, in a sentence
	Settings []Value // what else is requested, or what an edit changes
}

// Conflict is the page for a change that somebody else came before. Form carries the version begun with and mine.
type Conflict struct {
	Form     Form
	Name     string
	Anew     bool   // it is another object of the same name by now
	ETag     string // of their version
	Theirs   string // YAML of it
	Both     []Versions
	OnlyThem []Versions
	OnlyMe   []Versions
}

// What a choice of a conflict takes.
const (
	TakeTheirs = "theirs"
	TakeMine   = "mine"
)

// Versions are what a part of an object was, and what two people made of it. Input is the name of the choice between
// them.
type Versions struct {
	Input, Label        string
	Began, Theirs, Mine string
	Taken               string // TakeTheirs, TakeMine, or nothing yet
	Error               string
}

func (v Versions) id() string { return ID(v.Input) }

// Vanished is the page for a change of what was deleted meanwhile. Form carries what was entered.
type Vanished struct {
	Form Form
	Name string
	Anew string // address of the form that requests it again, "" for those who may not
}
