package catalog

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxRows bounds the index of a row, so that a form cannot create a huge list.
const maxRows = 1000

// Dense returns the form with the rows of every list numbered from 0 without gaps, and the number of rows by the list's
// name. Names below spec that are no valid path are left out.
func Dense(form url.Values) (dense url.Values, rows map[string]int) {
	dense, rows = url.Values{}, map[string]int{}
	for name, values := range form {
		if !strings.HasPrefix(name, "spec") {
			dense[name] = values
		}
	}
	if spec := parseForm(form); spec != nil {
		spec.write("spec", dense, rows)
	}
	return dense, rows
}

// write adds the values at and below n, whose path is path, to out.
func (n *node) write(path string, out url.Values, rows map[string]int) {
	if len(n.values) > 0 {
		out[path] = n.values
	}
	for name, c := range n.children {
		c.write(path+"."+name, out, rows)
	}
	if len(n.rows) > 0 {
		rows[path] = len(n.rows)
	}
	for at, i := range n.indices() {
		n.rows[i].write(Index(path, at), out, rows)
	}
}

// node is a tree of a form's values, by path.
type node struct {
	values   []string
	children map[string]*node
	rows     map[int]*node
}

// parseForm returns the tree of values whose names begin with spec. Names that are no valid path are ignored: browsers
// and extensions add their own.
func parseForm(form url.Values) *node {
	root := &node{}
	for name, values := range form {
		steps, ok := parseName(name)
		if !ok || steps[0] != "spec" {
			continue
		}
		n := root
		for _, s := range steps {
			n = n.step(s)
		}
		n.values = append(n.values, values...)
	}
	return root.children["spec"]
}

func (n *node) step(s string) *node {
	if i, ok := rowIndex(s); ok {
		if n.rows == nil {
			n.rows = map[int]*node{}
		}
		if n.rows[i] == nil {
			n.rows[i] = &node{}
		}
		return n.rows[i]
	}
	if n.children == nil {
		n.children = map[string]*node{}
	}
	if n.children[s] == nil {
		n.children[s] = &node{}
	}
	return n.children[s]
}

// last returns the last value, which applies, so that a hidden input can precede a check box.
func (n *node) last() string {
	if n == nil || len(n.values) == 0 {
		return ""
	}
	return n.values[len(n.values)-1]
}

func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	return n.children[name]
}

func (n *node) indices() []int {
	out := make([]int, 0, len(n.rows))
	for i := range n.rows {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// rowIndex parses a step such as [3].
func rowIndex(step string) (int, bool) {
	if !strings.HasPrefix(step, "[") {
		return 0, false
	}
	i, err := strconv.Atoi(strings.Trim(step, "[]"))
	return i, err == nil
}

// parseName splits spec.a[0].b into spec, a, [0], b. It refuses names that are no valid path, other spellings of an
// index, and rows beyond maxRows.
func parseName(name string) ([]string, bool) {
	var steps []string
	if len(name) > 512 {
		return nil, false
	}
	for part := range strings.SplitSeq(name, ".") {
		key, rows, indexed := strings.Cut(part, "[")
		if key == "" {
			return nil, false
		}
		steps = append(steps, key)
		if !indexed {
			continue
		}
		digits, ok := strings.CutSuffix(rows, "]")
		i, err := strconv.Atoi(digits)
		if !ok || err != nil || i < 0 || i >= maxRows || digits != strconv.Itoa(i) {
			return nil, false
		}
		steps = append(steps, fmt.Sprintf("[%d]", i))
	}
	return steps, true
}
