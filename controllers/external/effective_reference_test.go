package external

import "testing"

func TestWhatCountsIsWhatAWSHasOfTheSpec(t *testing.T) {
	for name, row := range map[string]struct{ before, asked, has, want string }{
		"AWS has it":                    {"", "k", "k", "k"},
		"it was not admitted":           {"", "k", "", ""},
		"another was not admitted":      {"k", "other", "k", "k"},
		"another is there":              {"k", "other", "other", "other"},
		"somebody else put one there":   {"k", "k", "foreign", "k"},
		"and none of ours was there":    {"", "k", "foreign", ""},
		"the spec says nothing":         {"k", "", "k", ""},
		"nor did it before, or AWS has": {"", "", "foreign", ""},
	} {
		if got := Effective(row.before, row.asked, row.has); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
