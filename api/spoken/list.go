package spoken

import (
	"fmt"
	"slices"
	"strings"
)

// And joins words for a sentence: "a, b and c".
func And(words []string) string { return listed(words, " and ") }

// Or joins words for a sentence: "a, b or c".
func Or(words []string) string { return listed(words, " or ") }

// Some returns at most the first words, and if there are more, how many: "3 more".
func Some(words []string, most int) []string {
	if more := len(words) - most; more > 0 {
		return append(slices.Clone(words[:most]), fmt.Sprintf("%d more", more))
	}
	return words
}

func listed(words []string, last string) string {
	n := len(words) - 1
	if n < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n], ", ") + last + words[n]
}
