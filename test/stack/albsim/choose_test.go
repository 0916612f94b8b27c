package albsim

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

func host(values ...string) elbtypes.RuleCondition {
	return elbtypes.RuleCondition{HostHeaderConfig: &elbtypes.HostHeaderConditionConfig{Values: values}}
}

func path(values ...string) elbtypes.RuleCondition {
	return elbtypes.RuleCondition{PathPatternConfig: &elbtypes.PathPatternConditionConfig{Values: values}}
}

// TestConditionsOfRules compares with the examples of
// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/rule-condition-types.html
func TestConditionsOfRules(t *testing.T) {
	header := elbtypes.RuleCondition{HttpHeaderConfig: &elbtypes.HttpHeaderConditionConfig{
		HttpHeaderName: aws.String("User-Agent"), Values: []string{"*Chrome*", "*Safari*"},
	}}
	method := elbtypes.RuleCondition{HttpRequestMethodConfig: &elbtypes.HttpRequestMethodConditionConfig{
		Values: []string{"GET"},
	}}
	query := elbtypes.RuleCondition{QueryStringConfig: &elbtypes.QueryStringConditionConfig{
		Values: []elbtypes.QueryStringKeyValuePair{{Key: aws.String("version"), Value: aws.String("v1")}},
	}}
	for name, row := range map[string]struct {
		condition elbtypes.RuleCondition
		request   string // method and URL
		agent     string
		want      bool
	}{
		"host":                          {host("test.example.com"), "GET https://TEST.example.com:8443/", "", true},
		"wildcard of a host":            {host("*.example.com"), "GET https://test.example.com/", "", true},
		"a wildcard is not its parent":  {host("*.example.com"), "GET https://example.com/", "", false},
		"a dot is a dot":                {host("a.example.com"), "GET https://abexample.com/", "", false},
		"path":                          {path("/img/*"), "GET https://a/img/logo.png", "", true},
		"a path's case counts":          {path("/img/*"), "GET https://a/IMG/logo.png", "", false},
		"the query is not of the path":  {path("/img"), "GET https://a/img?x=1", "", true},
		"a question mark is a letter":   {path("/v?"), "GET https://a/v1", "", true},
		"header":                        {header, "GET https://a/", "Mozilla chrome/1", true},
		"another header":                {header, "GET https://a/", "curl/8", false},
		"no header":                     {header, "GET https://a/", "", false},
		"method":                        {method, "GET https://a/", "", true},
		"another method":                {method, "POST https://a/", "", false},
		"query":                         {query, "GET https://a/?version=V1", "", true},
		"another value of the query":    {query, "GET https://a/?version=v2", "", false},
		"what the simulator cannot say": {elbtypes.RuleCondition{}, "GET https://a/", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			verb, url, _ := strings.Cut(row.request, " ")
			r := httptest.NewRequestWithContext(t.Context(), verb, url, http.NoBody)
			if row.agent != "" {
				r.Header.Set("User-Agent", row.agent)
			}
			if got := meets(r, &row.condition); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

func TestTheFirstRuleThatMatchesIsChosen(t *testing.T) {
	p := &portModel{Rules: []ruleModel{
		{Conditions: []elbtypes.RuleCondition{host("a.example.com"), path("/api/*")}, Forward: []forward{{Group: "api"}}},
		{Conditions: []elbtypes.RuleCondition{host("a.example.com")}, Forward: []forward{{Group: "rest"}}},
	}}
	for url, want := range map[string]string{
		"https://a.example.com/api/x": "api", "https://a.example.com/api": "rest", "https://b.example.com/api/x": "",
	} {
		got := ""
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if rule := p.choose(r); rule != nil {
			got = rule.Forward[0].Group
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}

func TestRequestsAreSharedByWeight(t *testing.T) {
	rule := &ruleModel{Forward: []forward{
		{Group: "none", Weight: 0}, {Group: "one", Weight: 1}, {Group: "three", Weight: 3},
	}}
	counts := map[string]int{}
	for range 4000 {
		counts[rule.target().Group]++
	}
	if counts["none"] != 0 || counts["one"] < 800 || counts["one"] > 1200 {
		t.Errorf("of 4000 requests: %v, want none and about 1000", counts)
	}
	if got := (&ruleModel{Forward: []forward{{Group: "none"}}}).target(); got != nil {
		t.Errorf("without a weight: %+v", got)
	}
}

func TestWhereARedirectLeads(t *testing.T) {
	all := func(change func(*elbtypes.RedirectActionConfig)) *elbtypes.RedirectActionConfig {
		c := &elbtypes.RedirectActionConfig{
			Protocol: aws.String("#{protocol}"), Host: aws.String("#{host}"), Port: aws.String("#{port}"),
			Path: aws.String("/#{path}"), Query: aws.String("#{query}"),
		}
		change(c)
		return c
	}
	for name, row := range map[string]struct {
		to   *elbtypes.RedirectActionConfig
		want string
	}{
		"another host": {
			all(func(c *elbtypes.RedirectActionConfig) { c.Host = aws.String("new.example.com") }),
			"https://new.example.com:8443/a/b?c=d",
		},
		"another path": {
			all(func(c *elbtypes.RedirectActionConfig) { c.Path, c.Query = aws.String("/new"), aws.String("") }),
			"https://old.example.com:8443/new",
		},
		"plain HTTP": {
			all(func(c *elbtypes.RedirectActionConfig) { c.Protocol, c.Port = aws.String("HTTP"), aws.String("80") }),
			"http://old.example.com/a/b?c=d",
		},
		"443 is the port of the stage": {
			all(func(c *elbtypes.RedirectActionConfig) { c.Protocol, c.Port = aws.String("HTTPS"), aws.String("443") }),
			"https://old.example.com:8443/a/b?c=d",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://old.example.com:8443/a/b?c=d", http.NoBody)
			if got := location(r, row.to); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}
