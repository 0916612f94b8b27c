package albsim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// rules returns the rules of a listener by priority, without the default one.
func (b *balancers) rules(ctx context.Context, listener string) (map[int]*elbtypes.Rule, error) {
	found := map[int]*elbtypes.Rule{}
	pages := elb.NewDescribeRulesPaginator(b.elb, &elb.DescribeRulesInput{ListenerArn: aws.String(listener)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, refusal("read the rules of the listener", err)
		}
		for i := range page.Rules {
			if priority, err := strconv.Atoi(aws.ToString(page.Rules[i].Priority)); err == nil {
				found[priority] = &page.Rules[i]
			}
		}
	}
	return found, nil
}

func answer(status int) elbtypes.Action {
	return elbtypes.Action{
		Type: elbtypes.ActionTypeEnumFixedResponse,
		FixedResponseConfig: &elbtypes.FixedResponseActionConfig{
			StatusCode: aws.String(strconv.Itoa(status)), ContentType: aws.String("text/plain"),
		},
	}
}

func (r *ruleModel) actions(have *built) []elbtypes.Action {
	switch {
	case r.Redirect != nil:
		return []elbtypes.Action{{Type: elbtypes.ActionTypeEnumRedirect, RedirectConfig: r.Redirect}}
	case !slices.ContainsFunc(r.Forward, func(f forward) bool { return f.Weight > 0 }):
		return []elbtypes.Action{answer(500)}
	}
	to := &elbtypes.ForwardActionConfig{}
	for _, f := range r.Forward {
		arn := have.groups[f.Group]
		if f.Named {
			arn = have.named[f.Group]
		}
		to.TargetGroups = append(to.TargetGroups, elbtypes.TargetGroupTuple{
			TargetGroupArn: aws.String(arn), Weight: aws.Int32(f.Weight),
		})
	}
	return []elbtypes.Action{{Type: elbtypes.ActionTypeEnumForward, ForwardConfig: to}}
}

// described returns a text of conditions and actions that is equal for rules that AWS treats as equal.
func described(conditions []elbtypes.RuleCondition, actions []elbtypes.Action) string {
	var parts []string
	for i := range conditions {
		parts = append(parts, describedCondition(&conditions[i]))
	}
	slices.Sort(parts)
	for i := range actions {
		parts = append(parts, describedAction(&actions[i]))
	}
	return strings.Join(parts, "\n")
}

func describedCondition(c *elbtypes.RuleCondition) string {
	values := c.Values
	switch {
	case c.HostHeaderConfig != nil:
		values = c.HostHeaderConfig.Values
	case c.PathPatternConfig != nil:
		values = append(slices.Clone(c.PathPatternConfig.Values), c.PathPatternConfig.RegexValues...)
	case c.HttpRequestMethodConfig != nil:
		values = c.HttpRequestMethodConfig.Values
	case c.HttpHeaderConfig != nil:
		values = append([]string{aws.ToString(c.HttpHeaderConfig.HttpHeaderName)}, c.HttpHeaderConfig.Values...)
	case c.QueryStringConfig != nil:
		values = nil
		for _, v := range c.QueryStringConfig.Values {
			values = append(values, aws.ToString(v.Key)+"="+aws.ToString(v.Value))
		}
	}
	return fmt.Sprintf("%s %q", aws.ToString(c.Field), values)
}

func describedAction(a *elbtypes.Action) string {
	switch {
	case a.RedirectConfig != nil:
		r := a.RedirectConfig
		return fmt.Sprint(r.StatusCode, aws.ToString(r.Protocol), " ", aws.ToString(r.Host), " ", aws.ToString(r.Port),
			" ",
			aws.ToString(r.Path), " ", aws.ToString(r.Query))
	case a.FixedResponseConfig != nil:
		return aws.ToString(a.FixedResponseConfig.StatusCode)
	case a.ForwardConfig != nil:
		var to []string
		for _, g := range a.ForwardConfig.TargetGroups {
			to = append(to, fmt.Sprint(aws.ToString(g.TargetGroupArn), " ", aws.ToInt32(g.Weight)))
		}
		return strings.Join(to, ", ")
	default:
		return aws.ToString(a.TargetGroupArn) + " 1"
	}
}
