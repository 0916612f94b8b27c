package albsim

import (
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// choose returns the first rule whose conditions a request meets, or nil.
func (p *portModel) choose(r *http.Request) *ruleModel {
	for i := range p.Rules {
		if !slices.ContainsFunc(p.Rules[i].Conditions, func(c elbtypes.RuleCondition) bool { return !meets(r, &c) }) {
			return &p.Rules[i]
		}
	}
	return nil
}

// meets reports whether a request meets a condition, as in
// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/rule-condition-types.html
func meets(r *http.Request, c *elbtypes.RuleCondition) bool {
	matches := func(patterns []string, fold bool, values ...string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			return slices.ContainsFunc(values, func(v string) bool { return matchesPattern(pattern, v, fold) })
		})
	}
	switch {
	case c.HostHeaderConfig != nil:
		return matches(c.HostHeaderConfig.Values, true, hostOf(r))
	case c.PathPatternConfig != nil:
		return matches(c.PathPatternConfig.Values, false, r.URL.EscapedPath())
	case c.HttpHeaderConfig != nil:
		values := r.Header.Values(aws.ToString(c.HttpHeaderConfig.HttpHeaderName))
		return matches(c.HttpHeaderConfig.Values, true, values...)
	case c.HttpRequestMethodConfig != nil:
		return slices.Contains(c.HttpRequestMethodConfig.Values, r.Method)
	case c.QueryStringConfig != nil:
		for key, values := range r.URL.Query() {
			for _, pair := range c.QueryStringConfig.Values {
				if matchesPattern(aws.ToString(pair.Key), key, true) &&
					matches([]string{aws.ToString(pair.Value)}, true, values...) {
					return true
				}
			}
		}
	}
	return false
}

// matchesPattern reports whether a value is like a pattern of AWS's, where * stands for any characters and ? for one.
func matchesPattern(pattern, value string, fold bool) bool {
	expression := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
	if fold {
		expression = "(?i)" + expression
	}
	found, err := regexp.MatchString("(?s)^(?:"+expression+")$", value)
	return err == nil && found
}

// hostOf returns the hostname of a request, without a port.
func hostOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	return strings.ToLower(host)
}

// target returns one of the forwards by their weights, or nil if none has any.
func (r *ruleModel) target() *forward {
	var sum int32
	for _, f := range r.Forward {
		sum += f.Weight
	}
	if sum == 0 {
		return nil
	}
	at := rand.Int32N(sum)
	for i := range r.Forward {
		if at -= r.Forward[i].Weight; at < 0 {
			return &r.Forward[i]
		}
	}
	return nil
}

// location returns where a redirect of a request leads. A load balancer of the stack has one port for 443.
func location(r *http.Request, to *elbtypes.RedirectActionConfig) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "443"
	}
	fill := strings.NewReplacer("#{protocol}", "HTTPS", "#{host}", hostOf(r), "#{port}", port,
		"#{path}", strings.TrimPrefix(r.URL.EscapedPath(), "/"), "#{query}", r.URL.RawQuery).Replace
	scheme, asked := strings.ToLower(fill(aws.ToString(to.Protocol))), fill(aws.ToString(to.Port))
	if scheme == "https" && asked == "443" {
		asked = port
	}
	host := fill(aws.ToString(to.Host))
	if (scheme != "https" || asked != "443") && (scheme != "http" || asked != "80") {
		host = net.JoinHostPort(host, asked)
	}
	url := scheme + "://" + host + fill(aws.ToString(to.Path))
	if query := fill(aws.ToString(to.Query)); query != "" {
		url += "?" + query
	}
	return url
}
