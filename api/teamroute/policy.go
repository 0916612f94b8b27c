package teamroute

import (
	"fmt"
	"slices"
	"strings"
)

// Policy is what the API server checks of the routes of one kind.
type Policy struct {
	Kind, Resource string
	Variables      [][2]string
	Validations    []Validation
}

// Validation is an expression that has to be true, and the expression of what is said else.
type Validation struct{ Expression, Message string }

// parts are the expressions of the parts of a route, as a list of lists, with {} for a variable that has the rules, and
// {h} for one that has the hostnames.
var parts = map[string]string{
	ofHostnames: "[variables.{h}]",
	ofRules:     "[variables.{}]",
	ofMatches:   "variables.{}.map(r, has(r.matches) ? r.matches : [])",
	ofFilters:   "variables.{}.map(r, has(r.filters) ? r.filters : [])",
	ofBackends:  "variables.{}.map(r, has(r.backendRefs) ? r.backendRefs : [])",
}

// Policies returns the admission policies, which check the changed parts. Unchanged parts of a route that was already
// at a shared load balancer pass, so that an older installation continues to work.
func Policies() []Policy {
	return []Policy{policyOf(HTTP, "httproutes"), policyOf(GRPC, "grpcroutes")}
}

func policyOf(kind, resource string) Policy {
	p := Policy{Kind: kind, Resource: resource, Variables: [][2]string{
		{"oldRules", "oldObject != null && variables.sharedBefore && has(oldObject.spec.rules) ? oldObject.spec.rules : []"},
		{"oldHostnames", "oldObject != null && variables.sharedBefore && has(oldObject.spec.hostnames) ? oldObject.spec.hostnames : []"},
		{"newRules", "has(object.spec.rules) ? object.spec.rules : []"},
		{"newHostnames", "has(object.spec.hostnames) ? object.spec.hostnames : []"},
	}}
	for _, of := range []string{ofHostnames, ofRules, ofMatches, ofFilters, ofBackends} {
		expression := func(rules, hostnames string) string {
			return strings.NewReplacer("{}", rules, "{h}", hostnames).Replace(parts[of])
		}
		p.Variables = append(p.Variables, [2]string{of + "Before", expression("oldRules", "oldHostnames")},
			[2]string{of, fmt.Sprintf("%s.map(l, l.filter(e, !variables.%sBefore.exists(b, e in b)))",
				expression("newRules", "newHostnames"), of)})
	}
	for i := range rows {
		if r := &rows[i]; slices.Contains(r.kinds, kind) {
			p.Variables = append(p.Variables,
				[2]string{r.name, fmt.Sprintf("variables.%s.map(l, l.filter(e, !(%s))).filter(l, size(l) > 0)", r.of,
					r.cel(kind))})
			p.Validations = append(p.Validations,
				Validation{fmt.Sprintf("size(variables.%s) == 0", r.name), r.message()})
		}
	}
	return p
}

func (r *row) cel(kind string) string {
	if v, ok := r.test.(values); ok {
		return v.celOf(kind, "e")
	}
	return r.test.cel("e")
}

// message returns the expression of the message; it shortens a team's value in it.
func (r *row) message() string {
	value := fmt.Sprintf("variables.%s[0][0]", r.name)
	if r.shows != "" {
		value += "." + r.shows
	}
	if strings.HasSuffix(r.shows, "weight") || strings.HasSuffix(r.shows, "statusCode") {
		value = "string(" + value + ")"
	}
	before, after, shows := strings.Cut(r.says, "{}")
	if !shows {
		return quote(before)
	}
	return fmt.Sprintf("%s + (size(%s) > %d ? %[2]s.substring(0, %[3]d) + '…' : %[2]s) + %[4]s", quote(before), value,
		mostShown, quote(after))
}
