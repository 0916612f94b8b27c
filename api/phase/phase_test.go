package phase

import "testing"

func TestSlugsNameEveryPhaseAndNothingElse(t *testing.T) {
	for i, p := range All() {
		if got, ok := Parse(p.Slug()); !ok || got != p {
			t.Errorf("%q has the slug %q, which is read as %q, %v", p, p.Slug(), got, ok)
		}
		if p.Urgency() != i {
			t.Errorf("%q has urgency %d, and place %d", p, p.Urgency(), i)
		}
	}
	for _, slug := range []string{"", "Ready", "needs you", "unknown"} {
		if got, ok := Parse(slug); ok {
			t.Errorf("%q is read as %q", slug, got)
		}
	}
}
