package form

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// compareObjects compares two objects as users write them.
func compareObjects(a, b *unstructured.Unstructured) (lines []views.Line, added int, err error) {
	one, err := catalog.ToYAML(a)
	if err != nil {
		return nil, 0, err
	}
	other, err := catalog.ToYAML(b)
	if err != nil {
		return nil, 0, err
	}
	lines, added = compare(string(one), string(other))
	return lines, added, nil
}

// around is the number of unchanged lines shown around a change.
const around = 3

// folded replaces unchanged lines by a note, except those around changes and runs that are no longer than the note.
func folded(lines []views.Line) []views.Line {
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l.Mark == "" {
			continue
		}
		for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
			near[j] = true
		}
	}
	var out []views.Line
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && !near[end] {
			end++
		}
		if end-i > 1 {
			out = append(out, views.Line{Mark: "fold", Text: fmt.Sprintf("%d lines that stay", end-i)})
			i = end
			continue
		}
		out = append(out, lines[i])
		i++
	}
	return out
}

// maxCompared bounds the work of a comparison: 1,000 lines with as many others.
const maxCompared = 1 << 20

// compare returns the differences between the request and what would be stored; added is the number of added lines.
func compare(asked, stored string) (lines []views.Line, added int) {
	a, b := splitLines(asked), splitLines(stored)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		lines = append(lines, views.Line{Text: a[0]})
		a, b = a[1:], b[1:]
	}
	var after []views.Line
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		after = append(after, views.Line{Text: a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	slices.Reverse(after)
	between, added := compareMiddle(a, b)
	return slices.Concat(lines, between, after), added
}

// compareMiddle compares what remains between equal beginnings and ends. If that is too long, it is shown as removed
// and added as a whole.
func compareMiddle(a, b []string) (lines []views.Line, added int) {
	if len(a)*len(b) > maxCompared {
		for _, l := range a {
			lines = append(lines, views.Line{Text: l, Mark: "minus"})
		}
		for _, l := range b {
			lines = append(lines, views.Line{Text: l, Mark: "plus"})
		}
		return lines, len(b)
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

// commonLengths returns a table: its element [i][j] is the length of the longest common subsequence of a[i:] and b[j:].
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
