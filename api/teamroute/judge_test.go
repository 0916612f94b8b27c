package teamroute

import (
	"regexp"
	"strings"
	"testing"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// What the API server says of the same routes is in the integration tests.
func TestAFaultNamesTheRuleAndTheValue(t *testing.T) {
	prefix := gatewayv1.PathMatchPathPrefix
	rule := func(path string) gatewayv1.HTTPRouteRule {
		return gatewayv1.HTTPRouteRule{
			Matches: []gatewayv1.HTTPRouteMatch{{Path: &gatewayv1.HTTPPathMatch{Type: &prefix, Value: &path}}},
		}
	}
	for path, want := range map[string]string{
		"/good":                        "",
		"/a*b":                         "rule 2: the path prefix /a*b is not one that the load balancer takes",
		"/" + strings.Repeat("é", 500): "rule 2: the path prefix /" + strings.Repeat("é", 59) + "… is not one",
	} {
		got, err := Judge(HTTP, &gatewayv1.HTTPRouteSpec{Rules: []gatewayv1.HTTPRouteRule{rule("/"), rule(path)}})
		if err != nil || !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%.20s: %q, %v", path, got, err)
		}
	}
	if got, err := Judge(HTTP, &gatewayv1.HTTPRouteSpec{
		Hostnames: []gatewayv1.Hostname{gatewayv1.Hostname(strings.Repeat("a", 129))},
	}); err != nil ||
		!strings.HasPrefix(got, "the hostname aaa") {
		t.Errorf("%q, %v", got, err)
	}
}

// A policy is of rows alone, each once, and each says something of its own.
func TestEveryRowIsInAPolicyOfItsKinds(t *testing.T) {
	variable := regexp.MustCompile(`variables\.(\w+)`)
	for _, p := range Policies() {
		declared := map[string]bool{"sharedBefore": true}
		for _, v := range p.Variables {
			for _, used := range variable.FindAllStringSubmatch(v[1], -1) {
				if !declared[used[1]] {
					t.Errorf("%s: %s uses %s, which comes later", p.Kind, v[0], used[1])
				}
			}
			if declared[v[0]] {
				t.Errorf("%s: there are two variables %s", p.Kind, v[0])
			}
			declared[v[0]] = true
		}
		for i := range rows {
			if r := &rows[i]; declared[r.name] != (len(r.kinds) == 2 || r.kinds[0] == p.Kind) {
				t.Errorf("%s: row %s", p.Kind, r.name)
			}
		}
	}
}
