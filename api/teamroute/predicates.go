package teamroute

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// test is a question to a part of a route, which Go answers and the API server does: both from the same data.
type test interface {
	// holds reports whether the part, as decoded JSON, passes.
	holds(part any) bool
	// cel returns the expression that is true if the part of that name passes.
	cel(part string) string
}

// oneOf passes what lacks the field, or has one of the values in it.
type oneOf struct {
	field  string
	values []string
}

func (t oneOf) holds(part any) bool {
	v, ok := find(part, t.field)
	s, _ := v.(string)
	return !ok || slices.Contains(t.values, s)
}

func (t oneOf) cel(part string) string {
	return absent(part, t.field) + part + "." + t.field + " in [" + quoteAll(t.values) + "]"
}

// text passes what lacks the field, or has a text in it of at most so many characters that matches.
type text struct {
	field   string // empty: the part itself
	pattern string // empty: any
	most    int
}

var patterns sync.Map // *regexp.Regexp by pattern

func (t text) holds(part any) bool {
	v, ok := find(part, t.field)
	s, _ := v.(string)
	return !ok || utf8.RuneCountInString(s) <= t.most && (t.pattern == "" || compiled(t.pattern).MatchString(s))
}

func compiled(pattern string) *regexp.Regexp {
	found, ok := patterns.Load(pattern)
	if !ok {
		found, _ = patterns.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return found.(*regexp.Regexp)
}

func (t text) cel(part string) string {
	field := part
	if t.field != "" {
		field += "." + t.field
	}
	size := fmt.Sprintf("size(%s) <= %d", field, t.most)
	if t.pattern != "" {
		size += fmt.Sprintf(` && %s.matches(r"""%s""")`, field, t.pattern)
	}
	return absent(part, t.field) + size
}

// noneLike passes what lacks the field, or has a text in it that does not match.
type noneLike struct{ field, pattern string }

func (t noneLike) holds(part any) bool {
	v, _ := find(part, t.field)
	s, _ := v.(string)
	return !compiled(t.pattern).MatchString(s)
}

func (t noneLike) cel(part string) string {
	return fmt.Sprintf(`%s!%s.%s.matches(r"""%s""")`, absent(part, t.field), part, t.field, t.pattern)
}

// atMost passes what lacks the field, or has no greater number in it.
type atMost struct {
	field string
	most  int64
}

func (t atMost) holds(part any) bool {
	v, _ := find(part, t.field)
	n, _ := v.(int64)
	return n <= t.most
}

func (t atMost) cel(part string) string {
	return fmt.Sprintf("%s%s.%s <= %d", absent(part, t.field), part, t.field, t.most)
}

// count passes what has no more elements in the field.
type count struct {
	field string
	most  int
}

func (t count) holds(part any) bool { return len(list(part, t.field)) <= t.most }

func (t count) cel(part string) string {
	return fmt.Sprintf("%ssize(%s.%s) <= %d", absent(part, t.field), part, t.field, t.most)
}

// each passes what has in the field only elements that pass.
type each struct {
	field string
	test  test
}

func (t each) holds(part any) bool {
	return !slices.ContainsFunc(list(part, t.field), func(one any) bool { return !t.test.holds(one) })
}

func (t each) cel(part string) string {
	one := part + part[:1]
	return fmt.Sprintf("%s%s.%s.all(%s, %s)", absent(part, t.field), part, t.field, one, t.test.cel(one))
}

// some passes what has one of the fields.
type some struct{ fields []string }

func (t some) holds(part any) bool {
	return slices.ContainsFunc(t.fields, func(f string) bool { _, ok := find(part, f); return ok })
}

func (t some) cel(part string) string {
	all := make([]string, len(t.fields))
	for i, f := range t.fields {
		all[i] = "(" + present(part, f) + ")"
	}
	return strings.Join(all, " || ")
}

// either passes what passes one of the tests.
type either []test

func (t either) holds(part any) bool {
	return slices.ContainsFunc(t, func(one test) bool { return one.holds(part) })
}

func (t either) cel(part string) string { return joinTests(t, part, " || ") }

// all passes what passes every test.
type all []test

func (t all) holds(part any) bool {
	return !slices.ContainsFunc(t, func(one test) bool { return !one.holds(part) })
}

func (t all) cel(part string) string { return joinTests(t, part, " && ") }

func joinTests(tests []test, part, by string) string {
	texts := make([]string, len(tests))
	for i, one := range tests {
		texts[i] = "(" + one.cel(part) + ")"
	}
	return strings.Join(texts, by)
}

// where passes what has another value in the field, and else goes by the test.
type where struct {
	field, value string
	test         test
}

func (t where) holds(part any) bool {
	v, _ := find(part, t.field)
	return v != t.value || t.test.holds(part)
}

func (t where) cel(part string) string {
	return fmt.Sprintf("!(%s && %s.%s == %s) || (%s)", present(part, t.field), part, t.field, quote(t.value),
		t.test.cel(part))
}

// find returns the part's value at a path of fields; the empty path is the part itself.
func find(part any, path string) (any, bool) {
	if path == "" {
		return part, true
	}
	for name := range strings.SplitSeq(path, ".") {
		fields, _ := part.(map[string]any)
		v, ok := fields[name]
		if !ok || v == nil {
			return nil, false
		}
		part = v
	}
	return part, true
}

func list(part any, field string) []any {
	v, _ := find(part, field)
	l, _ := v.([]any)
	return l
}

// present returns the expression that a path of fields is there.
func present(part, path string) string {
	var texts []string
	for name := range strings.SplitSeq(path, ".") {
		part += "." + name
		texts = append(texts, "has("+part+")")
	}
	return strings.Join(texts, " && ")
}

// absent begins an expression about a field that may not be there.
func absent(part, path string) string {
	if path == "" {
		return ""
	}
	return "!(" + present(part, path) + ") || "
}

func quote(s string) string {
	q := strconv.Quote(s)
	return "'" + strings.ReplaceAll(strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`), "'", `\'`) + "'"
}

func quoteAll(values []string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = quote(v)
	}
	return strings.Join(texts, ", ")
}
