package resource

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// timeline returns the conditions by their last change, newest first.
func (p *Pages) timeline(f status.Facts) []views.Turn {
	is, _ := f.Phase()
	all := make([]views.Turn, 0, len(f.Conditions))
	for _, c := range f.Conditions {
		icon, tone := turnLook(f, is, c)
		all = append(all, views.Turn{
			Title: humanize.Words(c.Type), Type: c.Type, Status: c.Status, Reason: c.Reason,
			Text: humanize.Sentence(c.Message),
			At:   p.Moment(parsed(c.Since)), Icon: icon, Tone: tone,
		})
	}
	slices.SortStableFunc(all, func(a, b views.Turn) int { return b.At.At.Compare(a.At.At) })
	return all
}

// turnLook returns the look of a condition: good if its status is the normal one, which is True or, for conditions that
// report a problem, False. Otherwise it depends on the object's phase: a condition in progress is no problem.
func turnLook(f status.Facts, is phase.Phase, c status.Condition) (icon, tone string) {
	switch {
	case c.Status != "True" && c.Status != "False":
		return "wait", "idle"
	case c.True() != c.Abnormal():
		return "check", "good"
	case c.Abnormal():
		return abnormalLook(c)
	case c.Failed():
		return "alert", "bad"
	}
	switch is {
	case phase.NeedsYou:
		if c.Message == f.Condition(v1alpha1.ConditionReady).Message {
			return "alert", "bad"
		}
		return "wait", "idle"
	case phase.Paused:
		return "pause", "idle"
	case phase.Ready:
		return "alert", "warn"
	case phase.InProgress, phase.Deleting:
	}
	return "spin", "busy"
}

// abnormalLook returns the look of a condition that is True while there is a problem.
func abnormalLook(c status.Condition) (icon, tone string) {
	switch c.Type {
	case v1alpha1.ConditionStalled:
		return "alert", "bad"
	case v1alpha1.ConditionReconciling:
		return "spin", "busy"
	case v1alpha1.ConditionPaused:
		return "pause", "idle"
	}
	return "alert", "warn"
}

// repairs are the reasons of events about repairs of changes made outside Portico.
var repairs = []string{"Repaired", "Recreated", "CertificateLost", "RecreateAcknowledged"}

// changes returns how often the spec was changed since the request, by anybody: edits, sizes, rollbacks. A deletion
// increments the generation too, and is not counted.
func changes(obj *unstructured.Unstructured) int64 {
	n := obj.GetGeneration() - 1
	if obj.GetDeletionTimestamp() != nil {
		n--
	}
	return max(n, 0)
}

// activity returns what happened to the object and what users did, as far as events and the status record it, newest
// first.
func (p *Pages) activity(obj *unstructured.Unstructured, d views.Detail) []views.Deed {
	at := func(path ...string) views.Moment { return p.Moment(parsed(catalog.TextAt(obj, path...))) }
	var all []views.Deed // newest first within one second
	if t := obj.GetDeletionTimestamp(); t != nil {
		all = append(all, views.Deed{
			Title: "Deletion requested", Text: told(d, activity.Deleted), Icon: "bin",
			Tone: "idle", At: p.Moment(t.Time),
		})
	}
	for _, e := range d.Events {
		if slices.Contains(repairs, e.Reason) {
			all = append(all, views.Deed{
				Title: humanize.Words(e.Reason), Text: e.Text, Icon: "alert", Tone: "warn",
				At: e.At,
			})
		}
	}
	if len(d.Checks.Plan) > 0 {
		all = append(all, views.Deed{
			Title: "Last check that had something to do", Icon: "info", Tone: "busy",
			At: d.Checks.Planned, Plan: d.Checks.Plan,
		})
	}
	all = append(all,
		views.Deed{Title: "Last change made in AWS", Icon: "check", Tone: "good", At: at("status", "lastSyncTime")},
		views.Deed{Title: "Ready for the first time", Icon: "check", Tone: "good", At: at("status", "firstReadyTime")},
	)
	all = append(all, p.deeds(d)...)
	all = append(all, views.Deed{
		Title: "Requested", Text: cmp.Or(told(d, activity.Created), by(d.Resource.RequestedBy)), Icon: "info",
		Tone: "idle", At: d.Resource.Created,
	})
	all = slices.DeleteFunc(all, func(a views.Deed) bool { return a.At.At.IsZero() })
	slices.SortStableFunc(all, func(a, b views.Deed) int { return b.At.At.Compare(a.At.At) })
	return all
}

// deeds returns users' actions, in whole seconds like the other times. Those that the object itself records are left
// out.
func (p *Pages) deeds(d views.Detail) (all []views.Deed) {
	for _, e := range d.Events {
		if e.Done && e.Reason != activity.Created && e.Reason != activity.Deleted {
			all = append(all, views.Deed{
				Title: humanize.Words(e.Reason), Text: humanize.Join(e.Text, e.Times()),
				Icon: page.ActivityIcon(e.Reason), Tone: "idle",
				At: p.Moment(e.At.At.Truncate(time.Second)),
			})
		}
	}
	return all
}

// told returns an action event's message, "" if the event no longer exists.
func told(d views.Detail, reason string) string {
	for _, e := range d.Events {
		if e.Done && e.Reason == reason {
			return e.Text
		}
	}
	return ""
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return "By " + who + "."
}
