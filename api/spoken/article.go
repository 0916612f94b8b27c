// Package spoken fits the names of kinds into sentences.
package spoken

import (
	"strings"
	"unicode"
)

// A returns a phrase that begins with a name, such as "AccessBinding shop", with "a" or "an" before it, by
// pronunciation: an abbreviation letter by letter.
func A(name string) string {
	vowels := "AEIOUaeiou"
	if letters := []rune(name); len(letters) > 1 && unicode.IsUpper(letters[0]) &&
		(unicode.IsUpper(letters[1]) || unicode.IsDigit(letters[1])) {
		vowels = "AEFHILMNORSX"
	}
	if name != "" && strings.ContainsRune(vowels, []rune(name)[0]) {
		return "an " + name
	}
	return "a " + name
}
