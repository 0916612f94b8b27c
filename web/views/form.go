package views

import (
	"cmp"
	"strings"
)

// Closed says why nothing can be requested; zero: requests are possible.
type Closed struct{ Title, Text string }

// Problem is one error in the summary at the top of a form.
type Problem struct {
	Text  string
	Field string // name of the input it is about, "" for the whole form
	Label string
}

// Command is one way to send the same request without the portal.
type Command struct{ ID, Title, Text string }

// Form is the page that requests a resource, or edits one.
type Form struct {
	Frame    Frame
	Title    string
	Crumbs   []Crumb
	Steps    [3]string
	Kind     string // title, e.g. Bucket
	Icon     string
	Help     string
	Action   string // URL that the form is posted to
	Cancel   Choice // link that leaves the form
	Closed   Closed
	Warning  string // on top of the form, "" for none
	YAMLTab  bool
	Comments bool // asks whether the YAML's comments can be dropped
	Basic    []Field
	Advanced []Field
	Sections []Section // above the fields, each with fields of its own
	Entered  bool      // it answers a post: its values are the user's
	Unfold   bool      // show the advanced fields: one has a value or an error
	Base     string    // YAML of what the form has no inputs for, carried along
	YAML     string    // the request as YAML
	ETag     string    // of the edited object when the user began; "" for a request
	Began    string    // YAML of the object when the user began
	Made     string    // status fields that show existing resources, separated by spaces
	Problems []Problem
	Names    []Names
	Secrets  string // URL of the page that sets values of Secrets; "" for a form without them
	Commands []Command
	Confirm  string // text of the last button of a review
}

// Section is a part of a form with a heading of its own.
type Section struct {
	Title  string
	Fields []Field
	Folded bool
	Open   bool // something in it has a value or an error
}

// summary returns the summary of a folded section.
func (s Section) summary() string {
	if len(s.Fields) == 1 {
		return s.Fields[0].Hint
	}
	return ""
}

// NewTeamForm returns the form for a new Team.
func NewTeamForm(frame Frame, kind string) Form {
	teams := AdminHref(AdminTeams, AdminQuery{})
	return Form{
		Frame: frame, Kind: kind, Title: "New team", Action: NewTeamPath, Confirm: "Create the team",
		Help: "Portico creates its namespaces and gives its members their rights. Nothing happens before you have " +
			"reviewed it.",
		Crumbs: []Crumb{{"Admin", AdminPath}, {"Teams", teams}, {Name: "New team"}}, Steps: [3]string{"Describe", "Review", "Watch it become ready"},
		Cancel: Choice{Value: teams, Label: "Back to the teams"},
	}
}

// EditTeamForm returns the form that changes a Team.
func EditTeamForm(frame Frame, kind, plural, name string) Form {
	f := EditForm(frame, kind, plural, name)
	f.Help = "What the team can have and use. Nothing changes before you have reviewed it."
	f.Crumbs = []Crumb{
		{"Admin", AdminPath},
		{"Teams", AdminHref(AdminTeams, AdminQuery{})},
		{name, OwnerPath(name)},
		{Name: "Edit"},
	}
	f.Cancel = Choice{Value: OwnerPath(name), Label: "Back to the team"}
	return f
}

// RequestForm returns the form for a new resource.
func RequestForm(frame Frame, kind, plural string) Form {
	title, whose := "Request "+article(kind), " for "+frame.Team.Name
	if frame.Team.ID == PlatformTeam { // an admin adds it without a request
		title, whose = "Add "+article(kind), ""
	}
	catalog := CatalogPath(frame.Team.ID)
	return Form{
		Frame: frame, Kind: kind, Title: title + whose, Action: RequestPath(frame.Team.ID, plural),
		Crumbs: []Crumb{{"Catalog", catalog}, {Name: title}}, Steps: [3]string{"Describe", "Review", "Watch it become ready"},
		Cancel: Choice{Value: catalog, Label: "Back to the catalog"},
	}
}

// EditForm returns the form that changes a resource.
func EditForm(frame Frame, kind, plural, name string) Form {
	page := ResourcePath(frame.Team.ID, plural, name)
	return Form{
		Frame: frame, Kind: kind, Title: "Edit " + name, Action: EditPath(frame.Team.ID, plural, name),
		Help:   kind + " of " + frame.Team.Name + ". Nothing changes before you have reviewed it.",
		Crumbs: []Crumb{{"Resources", TeamPath(frame.Team.ID)}, {name, page}, {Name: "Edit"}}, Steps: [3]string{"Change", "Review", "Watch it being applied"},
		Cancel: Choice{Value: page, Label: "Back to " + name},
	}
}

// same returns the heading of the commands that do the same without the portal.
func (f Form) same() string {
	if f.Editing() {
		return "The same change"
	}
	return "The same request"
}

// task returns the purpose of the form, as one word.
func (f Form) task() string {
	if f.Editing() {
		return "Edit"
	}
	return "Request"
}

// confirm returns the text of the button that sends the request.
func (f Form) confirm() string { return cmp.Or(f.Confirm, "Request it") }

// Editing reports whether the form changes an existing resource.
func (f Form) Editing() bool { return f.ETag != "" }

// pickers returns the htmx selection of the parts of the form that offer objects: more can have been created in another
// tab meanwhile.
func (f Form) pickers() string {
	var all []string
	lists := [][]Field{f.Basic, f.Advanced}
	for _, s := range f.Sections {
		lists = append(lists, s.Fields)
	}
	for _, id := range pickerIDs(lists...) {
		all = append(all, "#"+id+":outerMorph")
	}
	return strings.Join(all, ",")
}

func pickerIDs(lists ...[]Field) (all []string) {
	for _, fields := range lists {
		for _, f := range fields {
			if f.Picks {
				all = append(all, f.pickerID())
			}
			all = append(all, pickerIDs(f.Fields)...)
			for _, r := range f.Rows {
				all = append(all, pickerIDs(r.Fields)...)
			}
		}
	}
	return all
}
