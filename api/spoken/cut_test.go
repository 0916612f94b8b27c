package spoken

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCutKeepsWholeCharactersWithinTheBytes(t *testing.T) {
	for _, row := range []struct {
		text string
		most int
		want string
	}{
		{"short", 5, "short"}, {"longer than that", 8, "longe…"}, {"äöüäöü", 8, "äö…"}, {"", 0, ""}, {"any", 0, "…"},
	} {
		if got := Cut(row.text, row.most); got != row.want {
			t.Errorf("Cut(%q, %d) is %q, want %q", row.text, row.most, got, row.want)
		}
	}
	for most := 3; most < 40; most++ {
		if got := Cut(strings.Repeat("日本語", 20), most); len(got) > most || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", most, got)
		}
	}
}
