package pages

import (
	"slices"
	"strings"

	"github.com/portico-platform/portico/web/views"
)

// maxCompared bounds the work of a comparison; an object of 1,000 lines is compared, a larger one only shown.
const maxCompared = 1 << 20

// compare shows what the cluster would store against what was asked: added counts the lines that are new.
func compare(asked, stored string) (lines []views.Line, added int) {
	a, b := splitLines(asked), splitLines(stored)
	if len(a)*len(b) > maxCompared {
		for _, l := range b {
			lines = append(lines, views.Line{Text: l})
		}
		return lines, 0
	}
	common := commonLengths(a, b)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, views.Line{Text: a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			lines = append(lines, views.Line{Text: a[i], Mark: "minus"})
			i++
		default:
			lines = append(lines, views.Line{Text: b[j], Mark: "plus"})
			j, added = j+1, added+1
		}
	}
	return lines, added
}

// commonLengths[i][j] is how many lines a[i:] and b[j:] have in common, in order.
func commonLengths(a, b []string) [][]int {
	n := make([][]int, len(a)+1)
	for i := range n {
		n[i] = make([]int, len(b)+1)
	}
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				n[i][j] = n[i+1][j+1] + 1
			} else {
				n[i][j] = max(n[i+1][j], n[i][j+1])
			}
		}
	}
	return n
}

func splitLines(s string) []string {
	return strings.Split(strings.TrimRight(s, "\n"), "\n")
}
