package form

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

func draftOf(tb testing.TB, values url.Values) Draft {
	tb.Helper()
	return Decode(catalogtest.Kinds(tb).Requestable()[0], values, Facts{Namespace: "payments"})
}

func TestRows(t *testing.T) {
	d := draftOf(t, url.Values{"metadata.name": {"x"}})
	for _, list := range []string{
		"spec.tags", "spec.lifecycleRules", "spec.lifecycleRules", "spec.lifecycleRules[1].transitions",
		"spec.nonsense",
	} {
		d = d.WithRow(list)
	}
	v := d.values
	v.Set("spec.lifecycleRules[1].transitions[0].days", "30")
	removeRow(v, "spec.lifecycleRules[0]")
	want := url.Values{
		"metadata.name": {"x"}, "metadata.namespace": {"payments"}, "spec.tags[0].key": {""}, "spec.lifecycleRules[0]": {"{}"},
		"spec.lifecycleRules[0].transitions[0]": {"{}"}, "spec.lifecycleRules[0].transitions[0].days": {"30"},
	}
	if v.Encode() != want.Encode() {
		t.Errorf("the values are\n%s, want\n%s", v.Encode(), want.Encode())
	}
	removeRow(v, "spec.tags[7]")
	removeRow(v, "nonsense")
	if v.Encode() != want.Encode() {
		t.Errorf("removing what is not there changed the values to %s", v.Encode())
	}
}

// FuzzRows must never panic, whatever a form names.
func FuzzRows(f *testing.F) {
	f.Add("spec.tags[0]", "spec.tags")
	f.Add("spec.lifecycleRules[0].transitions[3].days", "spec.lifecycleRules[0].transitions")
	f.Add("[", "]")
	d := draftOf(f, nil)
	f.Fuzz(func(_ *testing.T, row, list string) {
		v := d.fromForm(url.Values{row: {"1"}}).WithRow(list).values
		removeRow(v, row)
	})
}

func TestErrorsAreBounded(t *testing.T) {
	bad := url.Values{"metadata.name": {"reports"}, "spec.providerRef.name": {"aws-prod"}}
	for i := range 100 {
		bad.Set(fmt.Sprintf("spec.lifecycleRules[%d].expirationDays", i), "soon")
		bad.Set(fmt.Sprintf("spec.lifecycleRules[%d].transitions[0].days", i), "soon")
	}
	if d := draftOf(t, bad); len(d.Unread) != 100 {
		t.Errorf("%d errors, want 100", len(d.Unread))
	}
}
