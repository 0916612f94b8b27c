package pages

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

const (
	// afterChange is when a page looks again after a change of the object: an answer about its checks may be five seconds
	// old, and a check ends after it has changed the object.
	afterChange = 6 * time.Second
	// atRest is how often a page looks again that shows what no change tells of: checks, and events about Pods.
	atRest = 30 * time.Second
)

// addChecks asks the operator, for the tab that shows it.
func (p *Pages) addChecks(ctx context.Context, l looking, obj *unstructured.Unstructured, d *views.Detail) error {
	if l.tab != views.TabOverview && l.tab != views.TabActivity {
		return nil
	}
	checks, err := p.cluster.Checks(ctx, l.id, obj)
	if err != nil {
		return err
	}
	d.Checks = p.checksOf(checks, d.Paused)
	return nil
}

func (p *Pages) checksOf(c operator.Checks, paused bool) views.Inspection {
	switch c.State {
	case operator.Unknown:
		return views.Inspection{Unknown: "Unknown: the operator does not answer. The rest of this page comes from the cluster and holds all the same."}
	case operator.Unchecked:
		return views.Inspection{Unknown: "Not checked yet since the operator started."}
	case operator.Checked:
	}
	out := views.Inspection{Facts: []views.Fact{
		{Label: "Last check", Value: strings.ToLower(words(c.Reason)) + ",", At: p.moment(c.LastChecked)},
		p.nextCheck(c, paused),
		{Label: "Checks", Value: checksMade(c)},
	}}
	for _, key := range slices.Sorted(maps.Keys(c.Live)) {
		out.Facts = append(out.Facts, views.Fact{Label: label(key), Value: c.Live[key], Note: "by AWS's count just now"})
	}
	if c.LiveError != "" {
		out.Facts = append(out.Facts, views.Fact{Label: "In AWS now", Value: prose.Sentence(c.LiveError)})
	}
	if c.LastPlan != nil {
		out.Planned = p.moment(c.LastPlan.At)
		for _, s := range c.LastPlan.Steps {
			out.Plan = append(out.Plan, views.Action{Call: s.Call, Why: s.Why})
		}
	}
	return out
}

func (p *Pages) moment(at time.Time) views.Moment { return views.Moment{At: at, Now: p.now()} }

// nextCheck is when, or what it depends on.
func (p *Pages) nextCheck(c operator.Checks, paused bool) views.Fact {
	f := views.Fact{Label: "Next check"}
	switch {
	case paused:
		f.Value = "when it is resumed"
	case c.NextCheck != nil:
		f.At, f.Ahead = p.moment(*c.NextCheck), true
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

// label makes words of a name in camelCase: messagesInFlight → Messages in flight.
func label(name string) string {
	w := words(name)
	if w == "" {
		return w
	}
	return strings.ToUpper(w[:1]) + w[1:]
}

// again signals besides each change a while after it, and now and then at rest. It ends with ctx.
func again(ctx context.Context, changed <-chan struct{}) <-chan struct{} {
	out := make(chan struct{}, 1)
	go func() {
		timer := time.NewTimer(atRest)
		defer timer.Stop()
		for {
			next := atRest
			select {
			case <-ctx.Done():
				return
			case <-changed:
				next = afterChange
			case <-timer.C:
			}
			timer.Reset(next)
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out
}
