package resource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// addChecks adds the operator's checks, for the tab that shows them.
func (p *Pages) addChecks(ctx context.Context, l objectRequest, obj *unstructured.Unstructured, d *views.Detail) error {
	if l.tab != views.TabOverview && l.tab != views.TabActivity || !l.ref.Kind.Own() {
		return nil
	}
	checks, err := p.Cluster.Operator.Checks(ctx, l.id, obj)
	if err != nil {
		return err
	}
	d.Checks = p.checksOf(checks, d.Paused, status.FactsOf(obj).Condition(v1alpha1.ConditionReady).Status != "")
	return nil
}

// checksOf returns the view of the checks; judged reports whether the object's status has the result of one.
func (p *Pages) checksOf(c operator.Checks, paused, judged bool) views.Inspection {
	switch c.State {
	case operator.Unknown:
		return views.Inspection{Unknown: "Unknown: the operator does not answer. The rest of this page comes from " +
			"Kubernetes and is current."}
	case operator.Unchecked:
		if judged {
			return views.Inspection{Unknown: "The operator has started again since its last check: the status is " +
				"that of this check, until the next one."}
		}
		return views.Inspection{Unknown: "Not checked yet."}
	case operator.Checked:
	}
	out := views.Inspection{Facts: []views.Fact{
		{Label: "Last check", Value: strings.ToLower(humanize.Words(c.Reason)) + ",", At: p.Moment(c.LastChecked)},
		p.nextCheck(c, paused),
		{Label: "Checks", Value: checksMade(c)},
	}}
	for _, key := range slices.Sorted(maps.Keys(c.Live)) {
		out.Facts = append(out.Facts,
			views.Fact{Label: humanize.Label(key), Value: c.Live[key], Note: "by AWS's count just now"})
	}
	if c.LiveError != "" {
		out.Facts = append(out.Facts, views.Fact{Label: "In AWS now", Value: humanize.Sentence(c.LiveError)})
	}
	if c.LastPlan != nil {
		out.Planned = p.Moment(c.LastPlan.At)
		for _, s := range c.LastPlan.Actions {
			out.Plan = append(out.Plan, views.Action{Call: s.Call, Why: s.Why})
		}
	}
	return out
}

// nextCheck returns when the next check is, or on what it depends.
func (p *Pages) nextCheck(c operator.Checks, paused bool) views.Fact {
	f := views.Fact{Label: "Next check"}
	switch {
	case paused:
		f.Value = "when it is resumed"
	case c.NextCheck != nil:
		f.At, f.Ahead = p.Moment(*c.NextCheck), true
	case c.Failures > 0:
		f.Value = "soon, and after each failure a little later"
	default:
		f.Value = "after a change"
	}
	return f
}

func checksMade(c operator.Checks) string {
	made := fmt.Sprintf("%d", c.Passes)
	switch {
	case c.Failures == 1:
		return made + ", of which the last failed"
	case c.Failures > 1:
		return fmt.Sprintf("%s, of which the last %d failed", made, c.Failures)
	}
	return made
}
