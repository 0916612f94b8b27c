package permit

import (
	"path"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// Size has the numbers that services limit: principals and conditions of all statements, and the actions of the
// longest.
type Size struct{ Actions, Principals, Conditions int }

// SizeOf returns the size of a policy.
func SizeOf(p *iampolicy.ResourcePolicy) Size {
	var size Size
	for _, s := range p.Statements() {
		size.Actions = max(size.Actions, len(s.Actions)+len(s.NotActions))
		size.Principals += len(s.Principals) + len(s.NotPrincipals)
		for _, keys := range s.Conditions {
			size.Conditions += len(keys)
		}
	}
	return size
}

// CoveredBy reports whether all resources of a statement match the resource of the policy, by its ARN, by a pattern
// or by *.
func CoveredBy(s iampolicy.ResourceStatement, arn string) bool {
	return !slices.ContainsFunc(slices.Concat(s.Resources, s.NotResources), func(pattern string) bool {
		matched, err := path.Match(strings.ReplaceAll(pattern, "/", ":"), strings.ReplaceAll(arn, "/", ":"))
		return err != nil || !matched
	})
}

// OfScope reports whether the action is one that the service's policies may name, or a pattern that matches one.
func OfScope(action, service string, names []string) bool {
	pattern, ok := strings.CutPrefix(strings.ToLower(action), service)
	return ok && slices.ContainsFunc(names, func(name string) bool {
		matched, err := path.Match(pattern, strings.ToLower(name))
		return err == nil && matched
	})
}
