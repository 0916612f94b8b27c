package elbv2

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// The limits of a load balancer; default rules do not count.
const (
	maxRules        = 100
	maxTargetGroups = 100
)

// rule serves CreateRule and ModifyRule, and refuses what exceeds a limit.
func (s *Service) rule(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	if refusal := refuseValues(x); refusal != nil {
		return refusal, nil
	}
	// The ARN is arn:...:listener/app/NAME/ID/LISTENER, or :listener-rule/ followed by a RULE.
	modified := x.Form.Get("RuleArn")
	at := x.Form.Get("ListenerArn")
	if modified != "" {
		at = strings.Replace(modified[:max(0, strings.LastIndex(modified, "/"))], ":listener-rule/", ":listener/", 1)
	}
	balancer := strings.Replace(at[:max(0, strings.LastIndex(at, "/"))], ":listener/", ":loadbalancer/", 1)
	listeners, err := s.listeners(ctx, x.Call.Account, x.Call.Region, balancer)
	if err != nil {
		return nil, err
	}
	for i := range listeners {
		if why := wrongAt(&listeners[i], x.Form); listeners[i].ARN == at && why != "" {
			return x.Fail(http.StatusBadRequest, "InvalidLoadBalancerAction", why), nil
		}
	}
	return s.refuseTargets(ctx, x, listeners, modified)
}

// makeWay moves the rules of a call to free priorities. Unlike AWS, moto refuses a priority that another rule has,
// even if the same call moves that rule.
func (s *Service) makeWay(ctx context.Context, x *wire.Exchange) error {
	form := url.Values{}
	for i, arn := range members(x.Form, "RulePriorities", "RuleArn") {
		name := fmt.Sprintf("RulePriorities.member.%d.", i+1)
		form.Set(name+"RuleArn", arn)
		form.Set(name+"Priority", strconv.FormatInt(10_000+s.moved.Add(1)%30_000, 10))
	}
	_, err := s.ask(ctx, x.Call.Account, x.Call.Region, "SetRulePriorities", form, nil)
	return err
}

type listenerRule struct {
	ARN       string `xml:"RuleArn"`
	IsDefault bool
	Actions   wire.RawXML
}

var targetGroup = regexp.MustCompile(`arn:[^<\s]*:targetgroup/[^<\s]*`)

// refuseTargets refuses a rule, or a target group, that exceeds the limit for the load balancer of these listeners. A
// rule or a listener's default action that the call replaces does not count.
func (s *Service) refuseTargets(ctx context.Context, x *wire.Exchange, listeners []listener, replaced string) (
	*wire.Reply, error,
) {
	load := balancerLoad{groups: map[string]bool{}}
	for name := range x.Form {
		load.target(x.Form.Get(name))
	}
	asked := len(load.groups)
	for _, l := range listeners {
		rules, err := s.rules(ctx, x, l.ARN)
		if err != nil {
			return nil, err
		}
		load.listener(l, rules, replaced)
	}
	switch {
	case x.Call.Operation == "CreateRule" && load.rules >= maxRules:
		return x.Fail(http.StatusBadRequest, "TooManyRules", "You've reached the limit on the number of rules per "+
			"load balancer"), nil
	case asked > 0 && len(load.groups) > maxTargetGroups:
		return x.Fail(http.StatusBadRequest, "TooManyTargetGroups", "You've reached the limit on the number of "+
			"unique target groups per load balancer across all listeners"), nil
	}
	return nil, nil
}

// balancerLoad holds what counts against the limits of a load balancer.
type balancerLoad struct {
	rules  int
	groups map[string]bool
}

// target counts the target groups named in the text.
func (b *balancerLoad) target(text string) {
	for _, arn := range targetGroup.FindAllString(text, -1) {
		b.groups[arn] = true
	}
}

func (b *balancerLoad) listener(l listener, rules []listenerRule, replaced string) {
	for _, r := range rules {
		arn := r.ARN
		if r.IsDefault {
			arn = l.ARN
		} else {
			b.rules++
		}
		if arn != replaced {
			b.target(r.Actions.Inner)
		}
	}
}

func (s *Service) rules(ctx context.Context, x *wire.Exchange, listener string) ([]listenerRule, error) {
	var got struct {
		All []listenerRule `xml:"DescribeRulesResult>Rules>member"`
	}
	_, err := s.ask(ctx, x.Call.Account, x.Call.Region, "DescribeRules",
		url.Values{"ListenerArn": {listener}, "PageSize": {unpaged}}, &got)
	return got.All, err
}
