package rest

import (
	"context"
	"time"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/operator"
)

type checksOutput struct {
	Body checks
}

type checks struct {
	State       string            `json:"state" enum:"checked,unchecked,unknown" doc:"checked: all else is there. unchecked: the operator has not checked the object since it started. unknown: the operator does not answer."`
	LastChecked *time.Time        `json:"lastChecked,omitempty" doc:"When the last check ended."`
	Reason      string            `json:"reason,omitempty" doc:"Its outcome, as in the Ready condition."`
	Message     string            `json:"message,omitempty" doc:"Its outcome in words."`
	NextCheck   *time.Time        `json:"nextCheck,omitempty" doc:"When the next one is due if nothing happens before. Absent while the object is paused, and after a failure, which is tried again with back-off."`
	LastPlan    *plan             `json:"lastPlan,omitempty" doc:"The last that a check found to do; absent if none did since the operator started."`
	Passes      int64             `json:"passes,omitempty" doc:"How many checks there were since the operator started."`
	Failures    int64             `json:"failures,omitempty" doc:"How many of the last ones failed, one after the other."`
	Live        map[string]string `json:"live,omitempty" doc:"Values read from AWS just now, such as the messages in a queue; absent for kinds that have none."`
	LiveError   string            `json:"liveError,omitempty" doc:"Why they could not be read."`
}

type plan struct {
	At    time.Time `json:"at"`
	Steps []step    `json:"steps"`
}

type step struct {
	Call string `json:"call" doc:"The call to AWS."`
	Why  string `json:"why,omitempty" doc:"The difference that asked for it."`
}

func (a *API) checks(ctx context.Context, ref catalog.Ref, _ *Place) (*checksOutput, error) {
	if err := a.possible(ctx, "get", ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	obj, err := a.cluster.Objects.Get(ctx, caller(ctx), ref)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	known, err := a.cluster.Operator.Checks(ctx, caller(ctx), obj)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return &checksOutput{Body: checksOf(known)}, nil
}

func checksOf(known operator.Checks) checks {
	out := checks{State: string(known.State)}
	if known.State != operator.Checked {
		return out
	}
	out.LastChecked, out.NextCheck = &known.LastChecked, known.NextCheck
	out.Reason, out.Message = known.Reason, known.Message
	out.Passes, out.Failures = known.Passes, known.Failures
	out.Live, out.LiveError = known.Live, known.LiveError
	if known.LastPlan != nil {
		out.LastPlan = &plan{At: known.LastPlan.At, Steps: make([]step, 0, len(known.LastPlan.Actions))}
		for _, s := range known.LastPlan.Actions {
			out.LastPlan.Steps = append(out.LastPlan.Steps, step{s.Call, s.Why})
		}
	}
	return out
}
