package password

import (
	"strings"
	"testing"
)

func TestPasswordsHaveAllClassesAndNothingElse(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		text, err := New(30)
		if err != nil {
			t.Fatal(err)
		}
		if !Made(text, 30) || Made(text, 31) {
			t.Errorf("Made(%q) of 30, 31 = %v, %v, want true, false", text, Made(text, 30), Made(text, 31))
		}
		if seen[text] || !strings.ContainsAny(text[:1], letters) {
			t.Errorf("%q: made twice: %v; want once, and a letter first", text, seen[text])
		}
		seen[text] = true
		for _, class := range []string{letters[:25], letters[25:], numbers, marks} {
			if !strings.ContainsAny(text, class) {
				t.Errorf("%q has none of %s", text, class)
			}
		}
	}
	for _, text := range []string{"", "a'b", strings.Repeat("a", 29) + "'", strings.Repeat("a", 29) + "\n"} {
		if Made(text, 30) {
			t.Errorf("%q counts as one of ours", text)
		}
	}
}
