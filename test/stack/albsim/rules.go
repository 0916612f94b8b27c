package albsim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// ruleModel is a rule of a listener, for one match and one hostname.
type ruleModel struct {
	Conditions []elbtypes.RuleCondition
	Redirect   *elbtypes.RedirectActionConfig
	Forward    []forward // without Redirect; with neither, a 500 response
}

// forward sends to a target group: one of the model's, or one by its name in the account.
type forward struct {
	Group  string
	Named  bool
	Weight int32
}

// candidate is a rule before it is sorted.
type candidate struct {
	host    string
	match   match
	route   *route
	ordinal int // of the match in the route
	rule    *routeRule
}

// rules returns the rules of all routes on the port, in the order of evaluation. A route that two listeners attach to
// the same hostname has its rules once.
func (m *model) rules(t *topology, port int32) []ruleModel { //nolint:gocognit // a walk through routes, rules and matches
	var all []candidate
	seen := map[string]bool{}
	for _, l := range t.listeners {
		if l.port != port {
			continue
		}
		for _, a := range l.attached {
			for _, host := range a.hostnames {
				key := fmt.Sprint(a.route.kind, a.route.object.GetUID(), host)
				if !seen[key] {
					seen[key] = true
					all = append(all, a.route.candidates(host)...)
				}
			}
		}
	}
	slices.SortStableFunc(all, precedence)
	rules := make([]ruleModel, len(all))
	for i := range all {
		if err := cmp.Or(all[i].match.refused, all[i].rule.refused); err != nil && m.failed == nil {
			m.failed = err
		}
		rules[i] = m.rule(t, &all[i])
	}
	return rules
}

func (r *route) candidates(host string) []candidate {
	var all []candidate
	for i := range r.rules {
		for _, match := range r.rules[i].matches {
			all = append(all, candidate{host: host, match: match, route: r, ordinal: len(all), rule: &r.rules[i]})
		}
	}
	return all
}

// precedence compares rules as Gateway API does: by hostname, then path, then further conditions, then age.
func precedence(a, b candidate) int {
	return cmp.Or(
		-cmp.Compare(specific(a.host), specific(b.host)),
		cmp.Compare(a.host, b.host),
		-cmp.Compare(number(a.match.exact), number(b.match.exact)),
		-cmp.Compare(a.match.path, b.match.path),
		-cmp.Compare(len(a.match.conditions), len(b.match.conditions)),
		older(a.route.object, b.route.object),
		cmp.Compare(a.ordinal, b.ordinal),
	)
}

// specific returns how specific a hostname is: more for exact names than for wildcards, and for longer ones; 0 for
// every name.
func specific(host string) int {
	if host == "" || strings.HasPrefix(host, "*") {
		return len(host)
	}
	return 1000 + len(host)
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *model) rule(t *topology, c *candidate) ruleModel {
	var rule ruleModel
	if c.host != "" {
		rule.Conditions = append(rule.Conditions, elbtypes.RuleCondition{
			Field: aws.String("host-header"), HostHeaderConfig: &elbtypes.HostHeaderConditionConfig{
				Values: []string{c.host},
			},
		})
	}
	rule.Conditions = append(rule.Conditions, c.match.conditions...)
	if c.rule.redirect != nil {
		rule.Redirect = redirect(c.rule.redirect)
		return rule
	}
	for _, b := range c.rule.served {
		rule.Forward = append(rule.Forward, m.forward(t, c.route, b))
	}
	return rule
}

// forward returns the forward to the target group of a port of a Service: each route has its own. One that a route
// names is used from anywhere in the account.
func (m *model) forward(t *topology, r *route, b gatewayv1.BackendRef) forward {
	if text(b.Kind) == targetGroupName {
		return forward{Group: string(b.Name), Named: true, Weight: weightOf(b)}
	}
	service, port := serviceOf(r, b), *b.Port
	name := resourceName(r.object.GetNamespace(), r.object.GetName(), r.kind, service.String(), strconv.Itoa(int(port)),
		string(t.gateway.UID))
	m.Groups[name] = groupModel{Service: service, Port: port, GRPC: r.kind == "GRPCRoute"}
	return forward{Group: name, Weight: weightOf(b)}
}

func weightOf(b gatewayv1.BackendRef) int32 {
	if b.Weight == nil {
		return 1
	}
	return *b.Weight
}

// mostWeight is the controller's own limit.
const mostWeight = 999

// unloadable returns why the controller cannot read the routes that are attached to the Gateway. It then writes no
// status at all: not of the Gateway, its listeners, or any route that it accepts.
func (t *topology) unloadable() error { //nolint:gocognit // a walk through routes, rules and backends
	for _, l := range t.listeners {
		for _, a := range l.attached {
			if a.route.unreadable != nil {
				return a.route.unreadable
			}
			for i := range a.route.rules {
				for _, b := range a.route.rules[i].served {
					if w := weightOf(b); w > mostWeight {
						return fmt.Errorf("Weight [%d] must be less than or equal to %d", w, mostWeight) //nolint:staticcheck // its words
					}
				}
			}
		}
	}
	return nil
}

// redirect returns the redirect action of the filter; what it leaves out is taken from the request, except the port,
// which follows from the scheme.
func redirect(f *gatewayv1.HTTPRequestRedirectFilter) *elbtypes.RedirectActionConfig {
	r := &elbtypes.RedirectActionConfig{
		Protocol: aws.String("#{protocol}"), Host: aws.String("#{host}"), Port: aws.String("#{port}"),
		Path: aws.String("/#{path}"), Query: aws.String("#{query}"),
		StatusCode: elbtypes.RedirectActionStatusCodeEnumHttp302,
	}
	if f.Scheme != nil {
		r.Protocol = aws.String(strings.ToUpper(*f.Scheme))
		r.Port = aws.String(map[string]string{"http": "80", "https": "443"}[*f.Scheme])
	}
	if f.Port != nil {
		r.Port = aws.String(strconv.Itoa(int(*f.Port)))
	}
	if f.Hostname != nil {
		r.Host = aws.String(string(*f.Hostname))
	}
	if f.Path != nil && f.Path.ReplaceFullPath != nil {
		r.Path = f.Path.ReplaceFullPath
	}
	if f.StatusCode != nil {
		r.StatusCode = elbtypes.RedirectActionStatusCodeEnum(fmt.Sprintf("HTTP_%d", *f.StatusCode))
	}
	return r
}
