package albsim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// lastPriority is the priority from which surplus rules are parked, so that others can take their places.
const lastPriority = 50_000

// ruleChanges are the changes from the current rules of a listener to those of the model.
type ruleChanges struct {
	// priorities by ARN, of rules that differ only in priority, and of those in their places
	move   map[string]int32
	modify map[int]*elbtypes.Rule // by the index of the model's rule
	create []int                  // indexes of the model's rules
	remove []*elbtypes.Rule
}

// makeRules gives the listener its rules: priority 1 is the first. It uses the controller's order, and stops at the
// first refusal: it moves the rules that differ only in priority, changes rules into those that belong at their
// priority, and only then creates and deletes rules.
func (b *balancers) makeRules(ctx context.Context, m *model, p *portModel, listener string, have *built) error {
	found, err := b.rules(ctx, listener)
	if err != nil {
		return err
	}
	changes := p.changes(found, have)
	if err := b.moveRules(ctx, changes.move); err != nil {
		return refusal(fmt.Sprintf("set the priorities of the rules of port %d", p.Port), err)
	}
	for _, i := range slices.Sorted(maps.Keys(changes.modify)) {
		b.counters.changes.Add(1)
		if _, err := b.elb.ModifyRule(ctx, &elb.ModifyRuleInput{
			RuleArn: changes.modify[i].RuleArn, Conditions: p.Rules[i].Conditions, Actions: p.Rules[i].actions(have),
		}); err != nil {
			return refusal(fmt.Sprintf("change rule %d of port %d", i+1, p.Port), err)
		}
	}
	return b.createAndRemove(ctx, m, p, listener, changes, have)
}

func (p *portModel) changes(found map[int]*elbtypes.Rule, have *built) ruleChanges { //nolint:gocognit // the order of the real controller
	c := ruleChanges{move: map[string]int32{}, modify: map[int]*elbtypes.Rule{}}
	left := maps.Clone(found)
	var unmatched []int
	for i := range p.Rules {
		want, at := described(p.Rules[i].Conditions, p.Rules[i].actions(have)), 0
		for _, priority := range slices.Sorted(maps.Keys(left)) {
			if described(left[priority].Conditions, left[priority].Actions) == want && (at == 0 || priority == i+1) {
				at = priority
			}
		}
		if at == 0 {
			unmatched = append(unmatched, i)
			continue
		}
		if at != i+1 {
			c.move[aws.ToString(left[at].RuleArn)] = int32(i + 1)
		}
		delete(left, at)
	}
	for _, i := range unmatched {
		if rule := left[i+1]; rule != nil {
			c.modify[i] = rule
			continue
		}
		c.create = append(c.create, i)
	}
	for _, priority := range slices.Sorted(maps.Keys(left)) {
		if c.modify[priority-1] != left[priority] {
			c.remove = append(c.remove, left[priority])
		}
	}
	if len(c.move) > 0 {
		for i, rule := range slices.Backward(c.remove) {
			c.move[aws.ToString(rule.RuleArn)] = int32(lastPriority - len(c.remove) + 1 + i)
		}
	}
	return c
}

func (b *balancers) moveRules(ctx context.Context, to map[string]int32) error {
	if len(to) == 0 {
		return nil
	}
	in := &elb.SetRulePrioritiesInput{}
	for _, arn := range slices.Sorted(maps.Keys(to)) {
		in.RulePriorities = append(in.RulePriorities, elbtypes.RulePriorityPair{
			RuleArn: aws.String(arn), Priority: aws.Int32(to[arn]),
		})
	}
	b.counters.changes.Add(1)
	_, err := b.elb.SetRulePriorities(ctx, in)
	return err
}

// createAndRemove creates the missing rules before it deletes any. At the limit it deletes one for each that it
// creates.
func (b *balancers) createAndRemove(ctx context.Context, m *model, p *portModel, listener string, c ruleChanges,
	have *built,
) error {
	full := false
	for len(c.create) > 0 || len(c.remove) > 0 {
		switch {
		case len(c.create) > 0 && !full:
			i := c.create[0]
			b.counters.changes.Add(1)
			_, err := b.elb.CreateRule(ctx, &elb.CreateRuleInput{
				ListenerArn: aws.String(listener), Priority: aws.Int32(int32(i + 1)), Conditions: p.Rules[i].Conditions,
				Actions: p.Rules[i].actions(have),
				Tags:    m.tags(fmt.Sprintf("%d:%d", p.Port, i+1)),
			})
			if full = isCode(err, "TooManyRules"); full {
				continue
			}
			if err != nil {
				return refusal(fmt.Sprintf("make rule %d of port %d", i+1, p.Port), err)
			}
			c.create = c.create[1:]
		case len(c.remove) > 0:
			b.counters.changes.Add(1)
			if _, err := b.elb.DeleteRule(ctx, &elb.DeleteRuleInput{RuleArn: c.remove[0].RuleArn}); err != nil {
				return refusal("delete a rule", err)
			}
			c.remove, full = c.remove[1:], false
		default:
			return errors.New("Unable to synthesize listener rules, there's too many attached.") //nolint:revive,staticcheck // its words
		}
	}
	return nil
}
