package form

import (
	"net/url"
	"testing"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/web/views"
)

func TestErrorsStandAtWhatTheyAreAbout(t *testing.T) {
	k, _ := catalogtest.Kinds(t).ByName("WebApp")
	facts := Facts{Team: views.Team{ID: "payments", Name: "payments"}, Namespace: "payments"}
	offers := Offers{Choices: Choices{
		"SQSQueue": {Title: "Message queue", Options: []views.Option{{Value: "dead", Label: "dead"}}},
	}}
	for _, c := range []struct {
		name string
		errs catalog.FieldErrors
		at   string
	}{
		{
			"kind and name are one choice",
			catalog.FieldErrors{
				{Field: "spec.bindings[0].kind", Message: "is required"},
				{Field: "spec.bindings[0].name", Message: "is required"},
			},
			"spec.bindings[0].name",
		},
		{"a row", catalog.FieldErrors{{Field: "spec.env[0]", Message: "set value or valueFrom, not both"}}, "spec.env[0]"},
		{"a folded group", catalog.FieldErrors{{Field: "spec.env[0].valueFrom", Message: "name one source"}}, "spec.env[0].valueFrom"},
		{"a group, by its member", catalog.FieldErrors{{Field: "spec.resources", Message: "requests.cpu must not be more than limits.cpu"}}, "spec.resources.requests.cpu"},
		{"another group", catalog.FieldErrors{{Field: "spec.autoscaling", Message: "min must not be more than max"}}, "spec.autoscaling.min"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Decode(k, url.Values{"spec.bindings[0]": {"{}"}, "spec.bindings[0].name": {""}, "spec.env[0].name": {
				"A",
			}}, facts)
			d.Errors = c.errs
			view, err := d.View(views.Form{}, offers, "")
			if err != nil || len(view.Problems) != 1 || view.Problems[0].Field != c.at {
				t.Errorf("%+v, %v, want one at %s", view.Problems, err, c.at)
			}
		})
	}
}
