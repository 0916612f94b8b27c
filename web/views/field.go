package views

import (
	"strconv"
	"strings"
)

// Widget is how a field is entered.
type Widget string

// The widgets.
const (
	Text    Widget = "text"
	Number  Widget = "number"
	Select  Widget = "select"
	Bool    Widget = "bool"   // default, yes or no
	Checks  Widget = "checks" // several of a few values
	Long    Widget = "long"   // a text of several lines
	Lines   Widget = "lines"  // several values, one a line
	Code    Widget = "code"   // YAML
	Group   Widget = "group"  // an object
	Rows    Widget = "rows"   // a list of objects
	Pairs   Widget = "pairs"  // a map
	Fixed   Widget = "fixed"  // a value that cannot be changed; Hint says why
	Nothing Widget = ""       // there is nothing to choose from; Hint says why
)

// Field is one input of a form, or a group of them. Name is its Kubernetes path, which errors refer to.
type Field struct {
	Name     string
	Label    string
	Hint     string // first sentence of the help
	More     string // the rest of it
	Widget   Widget
	Value    string
	Options  []Option
	Default  string // what the API server fills in, for a hint
	Required bool
	Fixed    bool   // cannot be changed later
	Unit     string // of a number, shown after the input; "" for none
	Example  string // an example of a value
	When     []When // it is shown only if all of these hold, or it has a value
	Short    bool   // the value is short
	Picks    bool   // it offers objects; more can exist when the user returns to the form
	Min, Max string
	Errors   []string
	Fields   []Field  // of a group
	Rows     []Row    // of a list or map
	Addable  []Choice // of a list: the objects that another row can name, each with a button
	Singular string   // what one row is called
	Line     bool     // of a group or a list: its inputs are side by side
	Columns  []Field  // of a list with Line: the explanations of the inputs of every row
	HintOf   string   // name of the column that explains this input
	Fold     bool     // of a group: unfolded only if it is Used
	Used     bool     // it has a value or an error
	Focus    bool     // it has the focus when the page is shown
	Links    []Choice // forms that create objects to choose here
	// Suggestions are initial suggestions, each with an optional description. Check checks the value while it is typed;
	// nil: no check.
	Suggestions []Choice
	List        string // ID of the names to choose from, "" for none
	KeyOf       string // name of the input for the object whose key this is, "" for other inputs
	Check       *Check
	Offered     *Offered // nil: no AWS account has values for it
}

// Offered are values from an AWS account. The script fetches them when the input gets the focus.
type Offered struct {
	Href string
	By   []string // names of the inputs that the values depend on
}

// Check says whether a typed value is available. It is requested again when one of the inputs With changes.
type Check struct {
	Field string // name of the input
	Href  string // URL of the check
	With  []string
	Look  Look // zero: there is nothing to check
	Links []Choice
}

func (c Check) id() string { return ID(c.Field) + "-check" }

// inputs returns the CSS selector of the inputs With.
func (c Check) inputs() string {
	ids := make([]string, 0, len(c.With))
	for _, name := range c.With {
		ids = append(ids, "#"+ID(name))
	}
	return strings.Join(ids, ", ")
}

// listID returns the ID of the values to choose from.
func (f Field) listID() string { return f.id() + "-list" }

// noteID returns the ID of the note shown while AWS is asked, or without a list.
func (f Field) noteID() string { return f.listID() + "-note" }

// Names are suggestions for inputs with this ID as their List; the script fetches them when an input gets the focus.
type Names struct {
	ID, Href string
	Keys     bool // also the keys of one of them
}

// NameList returns the ID of the list of a resource's names.
func NameList(resource string) string { return "names-" + resource }

// KeyList returns the ID of the list of one object's keys, for the resource with that list of names.
func KeyList(names string) string { return names + "-keys" }

// When is a condition on another input, or on the inputs below it.
type When struct {
	Name   string // of the other input
	Label  string
	Unset  bool     // it must be empty
	Values []string // it must have one of them; if empty, and not Unset: it must have any value
}

// rule returns the condition as the script reads it.
func (w When) rule() string {
	if w.Unset {
		return w.Name + " empty"
	}
	return strings.Join(append([]string{w.Name, "is"}, w.Values...), " ")
}

// rules returns all conditions of the field, one a line.
func (f Field) rules() string {
	all := make([]string, 0, len(f.When))
	for _, w := range f.When {
		all = append(all, w.rule())
	}
	return strings.Join(all, "\n")
}

// words returns the condition in words, for the users of the form.
func (w When) words() string {
	switch {
	case w.Unset:
		return "Fill in this or " + lowerFirst(w.Label) + ", not both."
	case len(w.Values) == 1 && w.Values[0] == "true":
		return "Applies only if " + lowerFirst(w.Label) + " is yes."
	case len(w.Values) > 0:
		return "Applies only if " + lowerFirst(w.Label) + " is " + strings.Join(w.Values, " or ") + "."
	}
	return "Applies only if " + lowerFirst(w.Label) + " is set."
}

// Option is one value to choose. Options of a group follow each other.
type Option struct {
	Group, Value, Label string
	Selected            bool
}

// optionGroups returns the options by group, in their order.
func (f Field) optionGroups() [][]Option {
	var out [][]Option
	for i, o := range f.Options {
		if i == 0 || f.Options[i-1].Group != o.Group {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], o)
	}
	return out
}

// Row is one element of a list: its own path and its inputs.
type Row struct {
	Name   string
	Fields []Field
	Errors []string
}

// ID returns the field's id attribute.
func ID(name string) string {
	return "f-" + strings.TrimSuffix(strings.NewReplacer(".", "-", "[", "-", "]", "").Replace(name), "-")
}

func (f Field) id() string { return ID(f.Name) }

// pickerID returns the ID of the element around all parts of a field that Picks.
func (f Field) pickerID() string { return f.id() + "-pick" }

// described lists the elements that explain the field, for aria-describedby.
func (f Field) described() string {
	var ids []string
	if len(f.Errors) > 0 {
		ids = append(ids, f.id()+"-error")
	}
	if f.Check != nil {
		ids = append(ids, f.Check.id())
	}
	if f.explained() {
		of := f.id()
		if f.HintOf != "" {
			of = ID(f.HintOf)
		}
		ids = append(ids, of+"-hint")
	}
	return strings.Join(ids, " ")
}

func (f Field) explained() bool { return f.Hint != "" || f.hintTail() != "" }

// inLine splits the fields of a row or a group into those shown side by side and, below them, the folded ones.
func inLine(fields []Field) (cells, folded []Field) {
	for _, f := range fields {
		if f.Fold {
			folded = append(folded, f)
		} else {
			cells = append(cells, f)
		}
	}
	return cells, folded
}

// hintTail returns what the schema adds to the help, such as the bounds.
func (f Field) hintTail() string {
	var parts []string
	switch {
	case f.Min != "" && f.Max != "":
		parts = append(parts, f.Min+" to "+f.Max+".")
	case f.Min != "" && f.Min != "0":
		parts = append(parts, "At least "+f.Min+".")
	case f.Max != "":
		parts = append(parts, "At most "+f.Max+".")
	}
	if f.Example != "" {
		parts = append(parts, "For example "+f.Example+".")
	}
	for _, w := range f.When {
		parts = append(parts, w.words())
	}
	if f.Widget == Lines {
		parts = append(parts, "Write one per line.")
	}
	if f.Fixed {
		parts = append(parts, "Cannot be changed once it is created.")
	}
	return strings.Join(parts, " ")
}

// emptyOption returns the text of the option that leaves the field unset.
func (f Field) emptyOption() string {
	switch {
	case f.Default != "":
		return "Default (" + f.Default + ")"
	case f.Required:
		return "Choose…"
	default:
		return "Not set"
	}
}

func (f Field) rowLabel(i int) string { return f.Singular + " " + strconv.Itoa(i+1) }
