package form

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	lines, added := compare("a: 1\nspec:\n  x: 1\n", "a: 1\nspec:\n  d: 2\n  x: 1\n")
	var got []string
	for _, l := range lines {
		got = append(got, l.Mark+"|"+l.Text)
	}
	if want := "|a: 1 |spec: plus|  d: 2 |  x: 1"; strings.Join(got, " ") != want || added != 1 {
		t.Errorf("compared to %q with %d added, want %q", strings.Join(got, " "), added, want)
	}
	long := func(middle string) string {
		return strings.Repeat("same\n", 3000) + middle + strings.Repeat("end\n", 3000)
	}
	if lines, added = compare(long("x: 1\n"), long("x: 2\n")); len(lines) != 6002 || added != 1 {
		t.Errorf("one line of many: %d lines, %d added", len(lines), added)
	}
	if lines, added = compare(strings.Repeat("a\n", 2000), strings.Repeat("b\n", 2000)); len(lines) != 4000 ||
		added != 2000 {
		t.Errorf("large objects must only be shown, got %d lines with %d added", len(lines), added)
	}
}
