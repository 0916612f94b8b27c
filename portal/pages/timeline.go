package pages

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// timeline is the conditions in the order in which they turned to what they are, the last one first.
func (p *Pages) timeline(f phase.Facts) []views.Turn {
	all := make([]views.Turn, 0, len(f.Conditions))
	for _, c := range f.Conditions {
		t := views.Turn{
			Title: words(c.Type), Type: c.Type, Status: c.Status, Reason: c.Reason, Text: prose.Sentence(c.Message),
			At: p.moment(parsed(c.Since)), Icon: "wait", Tone: "idle",
		}
		switch {
		case c.Status == "Unknown":
		case c.True() == abnormal(c.Type):
			t.Icon, t.Tone = "alert", "warn"
		case c.True():
			t.Icon, t.Tone = "check", "good"
		case !abnormal(c.Type):
			t.Icon, t.Tone = "spin", "busy"
		}
		if c.Status == "False" && c.Failed() || c.Type == "Stalled" && c.True() {
			t.Icon, t.Tone = "alert", "bad"
		}
		if abnormal(c.Type) && c.Status == "False" {
			t.Icon, t.Tone = "check", "good"
		}
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b views.Turn) int { return b.At.At.Compare(a.At.At) })
	return all
}

// abnormal are the conditions that are False when all is well (kstatus).
func abnormal(kind string) bool {
	return slices.Contains([]string{"Stalled", "Reconciling", "Paused"}, kind)
}

// repairs are the reasons of events that tell of a change made outside Portico that was put right.
var repairs = []string{"Repaired", "Recreated", "CertificateLost", "RecreateAcknowledged"}

// activity is what happened to the object and was done about it, as far as the cluster and the operator remember, the
// last thing first.
func (p *Pages) activity(obj *unstructured.Unstructured, d views.Detail) []views.Deed {
	at := func(path ...string) views.Moment { return p.moment(parsed(nested(obj, path...))) }
	var all []views.Deed // of the same second, the last thing first
	if t := obj.GetDeletionTimestamp(); t != nil {
		all = append(all, views.Deed{Title: "Deletion asked for", Icon: "bin", Tone: "idle", At: p.moment(t.Time)})
	}
	for _, e := range d.Events {
		if slices.Contains(repairs, e.Reason) {
			all = append(all, views.Deed{Title: words(e.Reason), Text: e.Text, Icon: "alert", Tone: "warn", At: e.At})
		}
	}
	if len(d.Checks.Plan) > 0 {
		all = append(all, views.Deed{Title: "The last check that found something to do", Icon: "info", Tone: "busy", At: d.Checks.Planned, Plan: d.Checks.Plan})
	}
	all = append(all,
		views.Deed{Title: "Last change made in AWS", Icon: "check", Tone: "good", At: at("status", "lastSyncTime")},
		views.Deed{Title: "Ready for the first time", Icon: "check", Tone: "good", At: at("status", "firstReadyTime")},
		views.Deed{Title: "Requested", Text: by(d.Resource.RequestedBy), Icon: "info", Tone: "idle", At: d.Resource.Created},
	)
	all = slices.DeleteFunc(all, func(a views.Deed) bool { return a.At.At.IsZero() })
	slices.SortStableFunc(all, func(a, b views.Deed) int { return b.At.At.Compare(a.At.At) })
	return all
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return "By " + who + "."
}
