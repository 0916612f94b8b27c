package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// Metric values of the reasons of objects that are not Ready. A kind has its mostReasons most frequent reasons; the
// rest is ReasonOther, and objects without a pass are ReasonUnchecked.
const (
	mostReasons     = 20
	ReasonOther     = "Other"
	ReasonUnchecked = "Unchecked"
)

var reasonLabel = metric.Label{
	Name: "reason", Of: "the reason of the Ready condition, " + ReasonUnchecked +
		" before the first pass; the most frequent " +
		strconv.Itoa(mostReasons) + " of each kind, others are " + ReasonOther, Most: mostReasons + 1,
}

var (
	resourcesDesc = metric.Collected(metric.Info{
		Name: "portico_resources", Source: metric.Operator, Help: "Objects by kind and readiness.",
		Labels: []metric.Label{metric.Kind(), {Name: "ready", Values: []string{"false", "true"}}},
	})
	notReadyDesc = metric.Collected(metric.Info{
		Name: "portico_not_ready_resources", Source: metric.Operator, Labels: []metric.Label{
			metric.Kind(), reasonLabel,
		},
		Help: "Objects that are not Ready. What is paused or being deleted is not among them.",
	})
	notReadyAgeDesc = metric.Collected(metric.Info{
		Name: "portico_not_ready_oldest_age_seconds", Source: metric.Operator, Labels: []metric.Label{
			metric.Kind(), reasonLabel,
		},
		Help: "How long the object has not been Ready that is the oldest of those, since its Ready condition last " +
			"changed its status.",
	})
	deletingDesc = metric.Collected(metric.Info{
		Name: "portico_deleting_resources", Source: metric.Operator, Labels: []metric.Label{metric.Kind()},
		Help: "Objects that are being deleted and still there.",
	})
	deletingAgeDesc = metric.Collected(metric.Info{
		Name: "portico_deleting_oldest_age_seconds", Source: metric.Operator, Labels: []metric.Label{metric.Kind()},
		Help: "How long ago the deletion was asked for that has been waiting longest.",
	})
)

// collectedKinds are the kinds of the manager that was set up last.
var collectedKinds struct {
	sync.Mutex
	mgr   ctrl.Manager
	now   func() time.Time
	kinds []schema.GroupVersionKind
}

var resourceCollector = NewCacheCollector(collectResources, resourcesDesc, notReadyDesc, notReadyAgeDesc, deletingDesc,
	deletingAgeDesc)

// collectKind adds gvk to the kinds counted in mgr's cache.
func collectKind(mgr ctrl.Manager, gvk schema.GroupVersionKind, now func() time.Time) {
	collectedKinds.Lock()
	defer collectedKinds.Unlock()
	if collectedKinds.mgr != mgr {
		collectedKinds.mgr, collectedKinds.kinds = mgr, nil
		resourceCollector.SetManager(mgr)
	}
	collectedKinds.now, collectedKinds.kinds = now, append(collectedKinds.kinds, gvk)
}

// collectResources counts every kind; one that cannot be listed is skipped.
func collectResources(ctx context.Context, from client.Reader, out chan<- prometheus.Metric) error {
	collectedKinds.Lock()
	scheme, kinds, now := collectedKinds.mgr.GetScheme(), slices.Clone(collectedKinds.kinds), collectedKinds.now()
	collectedKinds.Unlock()
	for _, gvk := range kinds {
		t := &kindCounts{now: now, ready: map[bool]int{}, reasons: map[string]*ageGroup{}}
		list, err := scheme.New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err != nil {
			return err
		}
		if err := from.List(ctx, list.(client.ObjectList), client.UnsafeDisableDeepCopy); err != nil {
			continue
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			t.add(o.(Object))
			return nil
		})
		t.send(gvk.Kind, out)
	}
	return nil
}

// kindCounts are the counts of one kind.
type kindCounts struct {
	now      time.Time
	ready    map[bool]int
	reasons  map[string]*ageGroup
	deleting ageGroup
}

// ageGroup is a number of objects, and the age of the oldest.
type ageGroup struct {
	n      int
	oldest time.Duration
}

func (g *ageGroup) add(n int, age time.Duration) { g.n, g.oldest = g.n+n, max(g.oldest, age) }

func (k *kindCounts) add(obj Object) {
	status := obj.Common()
	k.ready[status.Ready]++
	switch deleted := obj.GetDeletionTimestamp(); {
	case deleted != nil:
		k.deleting.add(1, k.now.Sub(deleted.Time))
	case !status.Ready && obj.GetAnnotations()[v1alpha1.AnnotationPaused] != "true":
		reason, since := ReasonUnchecked, obj.GetCreationTimestamp().Time
		if c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady); c != nil {
			reason, since = c.Reason, c.LastTransitionTime.Time
		}
		if k.reasons[reason] == nil {
			k.reasons[reason] = &ageGroup{}
		}
		k.reasons[reason].add(1, k.now.Sub(since))
	}
}

// send sends the metrics of the kind: all counts, so that zero is distinct from unknown, and the ages of existing
// objects.
func (k *kindCounts) send(kind string, out chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{kind}, labels...)...)
	}
	for _, ready := range []bool{false, true} {
		gauge(resourcesDesc, float64(k.ready[ready]), strconv.FormatBool(ready))
	}
	for reason, g := range largestGroups(k.reasons, mostReasons) {
		gauge(notReadyDesc, float64(g.n), reason)
		gauge(notReadyAgeDesc, g.oldest.Seconds(), reason)
	}
	gauge(deletingDesc, float64(k.deleting.n))
	gauge(deletingAgeDesc, k.deleting.oldest.Seconds())
}

// largestGroups keeps the n groups with the most members and merges all others into one.
func largestGroups(groups map[string]*ageGroup, n int) map[string]*ageGroup {
	if len(groups) <= n {
		return groups
	}
	names := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(groups[b].n, groups[a].n), cmp.Compare(a, b))
	})
	kept := map[string]*ageGroup{ReasonOther: {}}
	for i, name := range names {
		if i < n {
			kept[name] = groups[name]
			continue
		}
		kept[ReasonOther].add(groups[name].n, groups[name].oldest)
	}
	return kept
}
