package elbv2

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// The maximum values of a rule, by the quotas of Application Load Balancers and the reference of RuleCondition and
// Action.
const (
	maxValuesOfCondition = 3
	maxValuesOfRule      = 5
	maxWildcardsOfRule   = 5
	maxGroupsOfAction    = 5
	maxWeight            = 999
	maxValue             = 128
	maxHeaderName        = 40
)

var (
	pathValue   = regexp.MustCompile(`^[A-Za-z0-9_.$/~"'@:+&*?-]+$`)
	queryValue  = regexp.MustCompile(`^[A-Za-z0-9_.$/~"'@:+&()!,;=*?-]+$`)
	headerValue = regexp.MustCompile(`^[ -\[\]-~]+$`)
	headerName  = regexp.MustCompile("^[A-Za-z0-9*?!#$%&'+.^_`|~-]+$")
	conditionIn = regexp.MustCompile(
		`^Conditions\.member\.(\d+)\.(?:(\w+)Config\.)?Values\.member\.\d+(?:\.(Key|Value))?$`)
	groupWeight = regexp.MustCompile(`^Actions\.member\.\d+\.ForwardConfig\.TargetGroups\.member\.\d+\.Weight$`)
	groupARN    = regexp.MustCompile(`^Actions\.member\.\d+\.ForwardConfig\.TargetGroups\.member\.\d+\.TargetGroupArn$`)
	nameOfField = regexp.MustCompile(`^Conditions\.member\.\d+\.HttpHeaderConfig\.HttpHeaderName$`)
)

// refuseValues refuses a rule whose conditions or actions AWS does not accept; nil if it accepts them.
func refuseValues(x *wire.Exchange) *wire.Reply {
	if why := wrongCondition(x.Form); why != "" {
		return x.Fail(http.StatusBadRequest, "ValidationError", why)
	}
	if why := wrongAction(x.Form); why != "" {
		return x.Fail(http.StatusBadRequest, "ValidationError", why)
	}
	return nil
}

func wrongCondition(form url.Values) string { //nolint:gocognit // a list of what AWS refuses
	values, of, wildcards := 0, map[string]int{}, 0
	for name := range form {
		value := form.Get(name)
		if why := wrongHeaderName(name, value); why != "" {
			return why
		}
		m := conditionIn.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		if len(value) > maxValue {
			return fmt.Sprintf("The condition value '%.60s…' contains too many characters; the limit is '%d'", value,
				maxValue)
		}
		if known := valuesOf(form, m[1], m[2]); known != nil && !known.MatchString(value) {
			return fmt.Sprintf("The condition value '%s' contains a character that is not valid", value)
		}
		wildcards += strings.Count(value, "*") + strings.Count(value, "?")
		if m[3] != "Key" {
			values++
			of[m[1]]++
		}
	}
	for _, n := range of {
		if n > maxValuesOfCondition {
			return fmt.Sprintf("A condition can have '%d' values", maxValuesOfCondition)
		}
	}
	if values > maxValuesOfRule || wildcards > maxWildcardsOfRule {
		return fmt.Sprintf("A rule can have '%d' condition values and '%d' wildcards", maxValuesOfRule,
			maxWildcardsOfRule)
	}
	return ""
}

// wrongHeaderName returns what is wrong with a form field that names an HTTP header, or "" for other fields. AWS:
// HttpHeaderConditionConfig, "You can't use an HTTP header condition to specify the host header".
func wrongHeaderName(field, value string) string {
	switch {
	case !nameOfField.MatchString(field):
		return ""
	case strings.EqualFold(value, "host"):
		return "An HTTP header condition cannot specify the host header"
	case len(value) > maxHeaderName || !headerName.MatchString(value):
		return fmt.Sprintf("The HTTP header name '%.60s' is not valid; the limit is '%d'", value, maxHeaderName)
	}
	return ""
}

// valuesOf returns the pattern that the values of a condition must match; nil for conditions that are not checked.
func valuesOf(form url.Values, condition, config string) *regexp.Regexp {
	field := form.Get("Conditions.member." + condition + ".Field")
	switch {
	case config == "PathPattern" || field == "path-pattern":
		return pathValue
	case config == "QueryString":
		return queryValue
	case config == "HttpHeader":
		return headerValue
	}
	return nil
}

func wrongAction(form url.Values) string {
	groups := 0
	for name := range form {
		value := form.Get(name)
		if groupARN.MatchString(name) {
			groups++
		}
		if n, err := strconv.Atoi(value); groupWeight.MatchString(name) && (err != nil || n < 0 || n > maxWeight) {
			return fmt.Sprintf("The weight '%s' of a target group is not between '0' and '%d'", value, maxWeight)
		}
	}
	if groups > maxGroupsOfAction {
		return fmt.Sprintf("An action can have '%d' target groups", maxGroupsOfAction)
	}
	return wrongRedirect(form)
}

const redirectConfig = "Actions.member.1.RedirectConfig."

// wrongRedirect returns what is wrong with a redirect's status code, path or host, or "". AWS: RedirectActionConfig.
func wrongRedirect(form url.Values) string {
	status := form.Get(redirectConfig + "StatusCode")
	if status == "" {
		return ""
	}
	if status != "HTTP_301" && status != "HTTP_302" {
		return "The redirect status code '" + status + "' must be one of 'HTTP_301, HTTP_302'"
	}
	if path := form.Get(redirectConfig + "Path"); path != "" &&
		(len(path) > maxValue || !strings.HasPrefix(path, "/")) {
		return fmt.Sprintf("The redirect path '%.60s' is not valid", path)
	}
	if host := form.Get(redirectConfig + "Host"); len(host) > maxValue {
		return fmt.Sprintf("The redirect host '%.60s…' contains too many characters; the limit is '%d'", host,
			maxValue)
	}
	return ""
}

// wrongAt returns why the listener cannot have the redirect, or "": it redirects from HTTPS to HTTP, or to the same
// address. AWS: RedirectActionConfig, "You can't redirect HTTPS to HTTP"; the loop is in
// kubernetes-sigs/aws-load-balancer-controller issue 487.
func wrongAt(l *listener, form url.Values) string {
	if form.Get(redirectConfig+"StatusCode") == "" {
		return ""
	}
	to := func(field, variable, own string) string {
		if v := form.Get(redirectConfig + field); v != "" && v != variable {
			return v
		}
		return own
	}
	protocol := to("Protocol", "#{protocol}", l.Protocol)
	switch {
	case l.Protocol == "HTTPS" && protocol == "HTTP":
		return "The redirect configuration is not valid because it redirects HTTPS to HTTP"
	case protocol == l.Protocol && to("Port", "#{port}", l.Port) == l.Port && to("Host", "#{host}", "") == "" &&
		to("Path", "/#{path}", "") == "":
		return "The redirect configuration is not valid because it creates a loop"
	}
	return ""
}
