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
	return absent(part, t.field) + part + "." + t.field + " in [" + strings.Trim(strings.ReplaceAll(fmt.Sprint(t.numbers), " ", ", "), "[]") + "]"
}

// joined passes a match whose gRPC service and method fit into a path together.
type joined struct{}

func (joined) holds(part any) bool {
	service, _ := find(part, "method.service")
	method, _ := find(part, "method.method")
	return len(fmt.Sprint(service, method))-strings.Count(fmt.Sprint(service, method), "<nil>")*len("<nil>") <= MaxMethod
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
	return fmt.Sprintf("!has(%[1]s.filters) || !%[1]s.filters.exists(%[2]s, %[3]s) || (%[4]s)", part, one, some{replacing}.cel(one), rewrittenTest.cel(part))
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
	prefix := fmt.Sprintf("(has(%[1]s.path) && has(%[1]s.path.value) && %[1]s.path.value != '/' && (!has(%[1]s.path.type) || %[1]s.path.type == 'PathPrefix') ? 1 : 0)", part)
	return fmt.Sprintf("2 + %s + (has(%s.method) ? 1 : 0) + %s + (has(%[2]s.queryParams) ? size(%[2]s.queryParams) : 0) <= %[4]d", prefix, part, headers, MaxRuleValues)
}
