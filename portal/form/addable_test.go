package form

import (
	"net/url"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/web/views"
)

// Each object that can be bound and is not has a button that binds it, if there are only a few.
func TestRowsAreAddedByWhatTheyName(t *testing.T) {
	k, _ := catalogtest.Kinds(t).ByName("WebApp")
	many := make([]views.Option, maxAddable+1)
	for i := range many {
		many[i] = views.Option{Value: strings.Repeat("q", i+1)}
	}
	few := Choices{
		"SQSQueue": {Title: "Message queue", Options: []views.Option{{Value: "jobs", Label: "jobs"}, {Value: "orders", Label: "orders (failed)"}}},
		"S3Bucket": {Title: "Bucket", Options: []views.Option{{Value: "jobs", Label: "jobs"}}},
	}
	d := Decode(k, url.Values{}, payments).WithRow("spec.bindings SQSQueue/jobs")
	if got := d.values.Get("spec.bindings[0].kind") + " " +
		d.values.Get("spec.bindings[0].name"); got != "SQSQueue jobs" {
		t.Errorf("the row names %q", got)
	}
	for name, c := range map[string]struct {
		choices Choices
		want    string
	}{
		"but those that are named":  {few, "S3Bucket/jobs: bucket jobs, SQSQueue/orders: message queue orders (failed)"},
		"too many":                  {Choices{"SQSQueue": {Options: many}}, ""},
		"nothing that could be one": {nil, ""},
	} {
		b := builder{subject: d.subject, Offers: Offers{Choices: c.choices}, values: d.values, rows: d.rows}
		var got []string
		for _, a := range b.addable("spec.bindings") {
			got = append(got, a.Value+": "+a.Label)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: the buttons are %q, want %q", name, got, c.want)
		}
	}
	if d := Decode(k, url.Values{}, payments).WithRow("spec.bindings"); d.values.Get("spec.bindings[0].name") != "" {
		t.Error("a row without a choice names something")
	}
}
