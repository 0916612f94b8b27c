package form

import (
	"net/url"
	"testing"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/web/views"
)

var payments = Facts{Team: views.Team{ID: "payments", Name: "payments"}, Namespace: "payments"}

// A form's initial values are the usual ones, but never values that the guardrails refuse.
func TestFormsBeginWithWhatIsAllowed(t *testing.T) {
	k, _ := catalogtest.Kinds(t).ByName("RDSInstance")
	rule := func(name string, limit any) guardrails.Limits {
		return guardrails.Limits{By: "Team payments", Rules: map[string]any{name: limit}}
	}
	for name, c := range map[string]struct {
		limits guardrails.Limits
		lacks  string
	}{
		"nothing is limited":   {guardrails.Limits{}, ""},
		"another class":        {rule("allowedDatabaseClasses", []any{"db.r6g.*"}), "spec.dbInstanceClass"},
		"this class among two": {rule("allowedDatabaseClasses", []any{"db.t3.micro", "db.r6g.large"}), ""},
		"another engine":       {rule("allowedEngines", []any{"mysql"}), "spec.engine"},
		"less storage":         {rule("maxDatabaseStorageGiB", int64(10)), "spec.allocatedStorage"},
		"enough storage":       {rule("maxDatabaseStorageGiB", int64(20)), ""},
	} {
		d := Fresh(k, url.Values{}, payments,
			Offers{Providers: []Provider{{Name: "main", Ready: true}}, Guardrails: c.limits})
		for path, want := range map[string]string{
			"spec.engine": "postgres", "spec.dbInstanceClass": "db.t3.micro", "spec.allocatedStorage": "20",
			"spec.masterUsername": "dbadmin", "spec.engineVersion": "",
		} {
			if path == c.lacks {
				want = ""
			}
			if got := d.values.Get(path); got != want {
				t.Errorf("%s: %s begins with %q, want %q", name, path, got, want)
			}
		}
	}
}

// The API server accepts a form's initial values for every engine: a reserved user name would be refused.
func TestWhatFormsBeginWithExists(t *testing.T) {
	for _, k := range catalogtest.Kinds(t) {
		d := Fresh(k, url.Values{}, payments, Offers{})
		for _, v := range k.Begins {
			if !k.Has(v.Field) {
				t.Errorf("%s begins with %s, which it does not have", k.Name, v.Field)
			}
			for _, e := range d.Unread {
				if e.Field == "spec."+v.Field {
					t.Errorf("%s begins with %s=%s: %s", k.Name, v.Field, v.Text, e.Message)
				}
			}
		}
	}
}
