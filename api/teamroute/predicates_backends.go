package teamroute

import (
	"fmt"
	"slices"
	"strings"
)

// oneNumber passes what lacks the field, or has one of the numbers in it.
type oneNumber struct {
	field   string
	numbers []int64
}

func (t oneNumber) holds(part any) bool {
	v, ok := find(part, t.field)
	n, _ := v.(int64)
	return !ok || slices.Contains(t.numbers, n)
}

func (t oneNumber) cel(part string) string {
	return absent(part, t.field) + part + "." + t.field + " in [" +
		strings.Trim(strings.ReplaceAll(fmt.Sprint(t.numbers), " ", ", "), "[]") + "]"
}

// otherNumber passes what has in the field another number than this.
type otherNumber struct {
	field  string
	number int64
}

func (t otherNumber) holds(part any) bool {
	v, ok := find(part, t.field)
	return ok && v != t.number
}

func (t otherNumber) cel(part string) string {
	return fmt.Sprintf("%s && %s.%s != %d", present(part, t.field), part, t.field, t.number)
}

// distinct passes a rule whose backends differ in name, port or namespace. One without a namespace may be of any. Of a
// Service and port the controller makes one target group. Controller: model/model_build_target_group.go.
type distinct struct{}

func (distinct) holds(part any) bool {
	all := list(part, ofBackends)
	for i := range all {
		if slices.ContainsFunc(all[:i], func(other any) bool { return sameBackend(all[i], other) }) {
			return false
		}
	}
	return true
}

func sameBackend(a, b any) bool {
	same := func(field string) bool {
		x, _ := find(a, field)
		y, _ := find(b, field)
		return x == y
	}
	_, ours := find(a, "namespace")
	_, theirs := find(b, "namespace")
	return same("name") && same("port") && (same("namespace") || !ours || !theirs)
}

func (distinct) cel(part string) string {
	b, c := part+part[:1], part+part[:1]+part[:1]
	port := func(of string) string { return fmt.Sprintf("(has(%[1]s.port) ? %[1]s.port : 0)", of) }
	same := fmt.Sprintf("%[1]s.name == %[2]s.name && %[3]s == %[4]s && (!has(%[1]s.namespace) || "+
		"!has(%[2]s.namespace) || %[1]s.namespace == %[2]s.namespace)",
		b, c, port(b), port(c))
	return fmt.Sprintf("%[1]s%[2]s.%[3]s.all(%[4]s, %[2]s.%[3]s.exists_one(%[5]s, %[6]s))", absent(part, ofBackends),
		part, ofBackends, b, c, same)
}

// joined passes a match whose gRPC service and method fit into a path together.
type joined struct{}

func (joined) holds(part any) bool {
	service, _ := find(part, "method.service")
	method, _ := find(part, "method.method")
	return len(fmt.Sprint(service, method))-strings.Count(fmt.Sprint(service, method), "<nil>")*len(
		"<nil>") <= MaxMethod
}

func (joined) cel(part string) string {
	size := func(field string) string {
		return fmt.Sprintf("(%s ? size(%s.%s) : 0)", present(part, field), part, field)
	}
	return fmt.Sprintf("%s + %s <= %d", size("method.service"), size("method.method"), MaxMethod)
}

// rewritten passes a rule unless it replaces the prefix of a path of which no regular expression can be made.
type rewritten struct{}

var (
	replacing     = []string{"urlRewrite.path.replacePrefixMatch", "requestRedirect.path.replacePrefixMatch"}
	rewrittenTest = each{ofMatches, text{"path.value", rewrittenPath, MaxPrefix}}
)

func (rewritten) holds(part any) bool {
	return !slices.ContainsFunc(list(part, ofFilters), some{replacing}.holds) || rewrittenTest.holds(part)
}

func (rewritten) cel(part string) string {
	one := part + part[:1]
	return fmt.Sprintf("!has(%[1]s.filters) || !%[1]s.filters.exists(%[2]s, %[3]s) || (%[4]s)", part, one,
		some{replacing}.cel(one), rewrittenTest.cel(part))
}

// values passes a match that compares no more values than a rule has. The hostname is one, and the path of a rule at
// least one.
type values struct{}

func (values) holds(part any) bool {
	n := 2
	if path, ok := find(part, "path.value"); ok && path != "/" {
		if kind, ok := find(part, "path.type"); !ok || kind == "PathPrefix" {
			n++
		}
	}
	if method, ok := find(part, "method"); ok {
		if _, http := method.(string); http {
			n++
		}
	}
	for _, h := range list(part, "headers") {
		v, _ := find(h, "value")
		s, _ := v.(string)
		n += 1 + strings.Count(s, ",")
	}
	return n+len(list(part, "queryParams")) <= MaxRuleValues
}

// cel returns the expression for HTTPRoutes; celOf leaves out what GRPCRoutes lack.
func (values) cel(part string) string { return values{}.celOf(HTTP, part) }

func (values) celOf(kind, part string) string {
	headers := fmt.Sprintf("(has(%[1]s.headers) ? %[1]s.headers.map(h, size(h.value.split(','))).sum() : 0)", part)
	if kind == GRPC {
		return fmt.Sprintf("2 + %s <= %d", headers, MaxRuleValues)
	}
	prefix := fmt.Sprintf("(has(%[1]s.path) && has(%[1]s.path.value) && %[1]s.path.value != '/' && "+
		"(!has(%[1]s.path.type) || %[1]s.path.type == 'PathPrefix') ? 1 : 0)", part)
	return fmt.Sprintf("2 + %s + (has(%s.method) ? 1 : 0) + %s + (has(%[2]s.queryParams) ? size(%[2]s.queryParams) : "+
		"0) <= %[4]d", prefix, part, headers, MaxRuleValues)
}
