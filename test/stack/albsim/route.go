package albsim

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// route is an HTTPRoute or a GRPCRoute.
type route struct {
	object    client.Object
	kind      string
	hostnames []string
	parents   []gatewayv1.ParentReference
	rules     []routeRule
	resolved  gatewayv1.RouteConditionReason
	results   []result // one for each parent with this controller
	// unreadable is why the controller cannot read the route.
	unreadable error
	on         []*topology
}

type routeRule struct {
	matches  []match
	redirect *gatewayv1.HTTPRequestRedirectFilter
	refused  error // the error that fails the whole model
	backends []gatewayv1.BackendRef
	served   []gatewayv1.BackendRef // those that exist
}

// match is a match of a rule, with what decides the order: exact paths, longer ones, more conditions.
type match struct {
	exact      bool
	path       int // its length
	conditions []elbtypes.RuleCondition
	refused    error // the error that fails the whole model
}

func httpRoute(o *gatewayv1.HTTPRoute) *route {
	r := &route{object: o, kind: "HTTPRoute", hostnames: texts(o.Spec.Hostnames), parents: o.Spec.ParentRefs}
	for i := range o.Spec.Rules {
		from := &o.Spec.Rules[i]
		var rule routeRule
		for j := range from.Matches {
			rule.matches = append(rule.matches, httpMatch(&from.Matches[j]))
		}
		rule.redirect, rule.refused = httpFilters(from.Filters)
		for j := range from.BackendRefs {
			rule.backends = append(rule.backends, from.BackendRefs[j].BackendRef)
		}
		r.rules = append(r.rules, rule.orAny())
	}
	return r
}

func grpcRoute(o *gatewayv1.GRPCRoute) *route {
	r := &route{object: o, kind: "GRPCRoute", hostnames: texts(o.Spec.Hostnames), parents: o.Spec.ParentRefs}
	for i := range o.Spec.Rules {
		from := &o.Spec.Rules[i]
		var rule routeRule
		for j := range from.Matches {
			rule.matches = append(rule.matches, grpcMatch(&from.Matches[j]))
		}
		rule.refused = grpcFilters(from.Filters)
		for j := range from.BackendRefs {
			rule.backends = append(rule.backends, from.BackendRefs[j].BackendRef)
		}
		r.rules = append(r.rules, rule.orAny())
	}
	return r
}

func texts[T ~string](all []T) []string {
	var out []string
	for _, s := range all {
		out = append(out, string(s))
	}
	return out
}

// orAny gives a rule without matches one that matches every request.
func (r routeRule) orAny() routeRule {
	if len(r.matches) == 0 {
		r.matches = []match{pathMatch(false, "/")}
	}
	return r
}

func pathMatch(exact bool, path string) match {
	patterns := []string{path}
	if !exact {
		prefix := strings.TrimSuffix(path, "/")
		if patterns = []string{prefix, prefix + "/*"}; prefix == "" {
			patterns = []string{"/*"}
		}
	}
	m := match{exact: exact, path: len(path), conditions: []elbtypes.RuleCondition{{
		Field: aws.String("path-pattern"), PathPatternConfig: &elbtypes.PathPatternConditionConfig{Values: patterns},
	}}}
	if !exact && strings.ContainsAny(path, "*?") {
		m.refused = fmt.Errorf("prefix path shouldn't contain wildcards: %s", path)
	}
	return m
}

func httpMatch(of *gatewayv1.HTTPRouteMatch) match {
	path, exact := "/", false
	if p := of.Path; p != nil {
		path, exact = aws.ToString(p.Value), p.Type != nil && *p.Type == gatewayv1.PathMatchExact
	}
	m := pathMatch(exact, path)
	if p := of.Path; p != nil && p.Type != nil && *p.Type == gatewayv1.PathMatchRegularExpression {
		m.conditions[0].PathPatternConfig, m.refused = &elbtypes.PathPatternConditionConfig{
			RegexValues: []string{path},
		}, nil
	}
	if of.Method != nil {
		m.add("http-request-method", elbtypes.RuleCondition{
			HttpRequestMethodConfig: &elbtypes.HttpRequestMethodConditionConfig{Values: []string{string(*of.Method)}},
		})
	}
	for _, h := range of.Headers {
		m.header(string(h.Name), h.Value)
	}
	for _, q := range of.QueryParams {
		m.add("query-string", elbtypes.RuleCondition{QueryStringConfig: &elbtypes.QueryStringConditionConfig{
			Values: []elbtypes.QueryStringKeyValuePair{{Key: aws.String(string(q.Name)), Value: aws.String(q.Value)}},
		}})
	}
	return m
}

func grpcMatch(of *gatewayv1.GRPCRouteMatch) match {
	m := pathMatch(false, "/")
	if of.Method != nil {
		service, method := aws.ToString(of.Method.Service), aws.ToString(of.Method.Method)
		m = pathMatch(true, "/"+otherwise(service, "*")+"/"+otherwise(method, "*"))
	}
	for _, h := range of.Headers {
		m.header(string(h.Name), h.Value)
	}
	return m
}

func (m *match) add(field string, c elbtypes.RuleCondition) {
	c.Field = aws.String(field)
	m.conditions = append(m.conditions, c)
}

func (m *match) header(name, value string) {
	m.add("http-header", elbtypes.RuleCondition{HttpHeaderConfig: &elbtypes.HttpHeaderConditionConfig{
		HttpHeaderName: aws.String(name), Values: headerValues(value),
	}})
}

// headerValues splits a value at its commas, except those after a backslash.
func headerValues(value string) []string {
	values, current := []string(nil), strings.Builder{}
	for i := 0; i < len(value); i++ {
		switch {
		case value[i] == '\\' && i+1 < len(value):
			i++
			current.WriteByte(value[i])
		case value[i] == ',':
			values = append(values, current.String())
			current.Reset()
		default:
			current.WriteByte(value[i])
		}
	}
	return append(values, current.String())
}
