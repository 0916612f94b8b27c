package spoken

import (
	"strings"
	"testing"
)

func TestListsOfWords(t *testing.T) {
	for words, want := range map[string]string{"": "", "a": "a", "a b": "a and b", "a b c": "a, b and c"} {
		if got := And(strings.Fields(words)); got != want {
			t.Errorf("%q: got %q, want %q", words, got, want)
		}
	}
	if got, want := Or([]string{"a", "b", "c"}), "a, b or c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLongListsSayHowManyMore(t *testing.T) {
	words := []string{"a", "b", "c", "d"}
	for most, want := range map[int]string{2: "a, b and 2 more", 3: "a, b, c and 1 more", 4: "a, b, c and d"} {
		if got := And(Some(words, most)); got != want {
			t.Errorf("at most %d: got %q, want %q", most, got, want)
		}
	}
	if words[2] != "c" {
		t.Error("the words were changed")
	}
}
