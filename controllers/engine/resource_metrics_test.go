package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// unready returns a bucket that has not been Ready for this time.
func unready(reason string, since time.Duration) *v1alpha1.S3Bucket {
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.Time{Time: noon.Add(-time.Hour)}}}
	if reason != "" {
		b.Status.Conditions = []metav1.Condition{
			{
				Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason,
				LastTransitionTime: metav1.Time{Time: noon.Add(-since)},
			},
		}
	}
	return b
}

// shown returns metrics as "name{value,value} number", sorted.
func shown(t *testing.T, all <-chan prometheus.Metric) []string {
	t.Helper()
	var texts []string
	for m := range all {
		var d dto.Metric
		if err := m.Write(&d); err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(m.Desc().String(), `fqName: "portico_`)
		name, _, _ = strings.Cut(name, `"`)
		var values []string
		for _, l := range d.GetLabel() {
			values = append(values, l.GetValue())
		}
		texts = append(texts, fmt.Sprintf("%s{%s} %v", name, strings.Join(values, ","), d.GetGauge().GetValue()))
	}
	slices.Sort(texts)
	return texts
}

func counts(t *testing.T, objects ...*v1alpha1.S3Bucket) []string {
	t.Helper()
	all := make(chan prometheus.Metric, 1000)
	c := &kindCounts{now: noon, ready: map[bool]int{}, reasons: map[string]*ageGroup{}}
	for _, o := range objects {
		c.add(o)
	}
	c.send("S3Bucket", all)
	close(all)
	return shown(t, all)
}

func TestResourcesAreCountedByWhatTheyWaitFor(t *testing.T) {
	ready, paused, deleting := unready("InSync", 0), unready("Creating", time.Hour), unready("Deleting", time.Minute)
	ready.Status.Ready = true
	paused.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	deleting.DeletionTimestamp = &metav1.Time{Time: noon.Add(-10 * time.Minute)}
	want := []string{
		"deleting_oldest_age_seconds{S3Bucket} 600",
		"deleting_resources{S3Bucket} 1",
		"not_ready_oldest_age_seconds{S3Bucket,Throttled} 300",
		"not_ready_oldest_age_seconds{S3Bucket,Unchecked} 3600",
		"not_ready_resources{S3Bucket,Throttled} 2",
		"not_ready_resources{S3Bucket,Unchecked} 1",
		"resources{S3Bucket,false} 5",
		"resources{S3Bucket,true} 1",
	}
	if got := counts(t, ready, paused, deleting, unready("Throttled", time.Minute), unready("Throttled", 5*time.Minute),
		unready("", 0)); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestReasonsBeyondTheBoundAreOneTogether(t *testing.T) {
	var all []*v1alpha1.S3Bucket
	for i := range mostReasons + 3 {
		all = append(all, unready(fmt.Sprintf("Reason%02d", i), time.Duration(i)*time.Second))
		if i < mostReasons {
			all = append(all, unready(fmt.Sprintf("Reason%02d", i), 0))
		}
	}
	got := counts(t, all...)
	for _, want := range []string{
		"not_ready_resources{S3Bucket,Other} 3",
		"not_ready_oldest_age_seconds{S3Bucket,Other} 22", "not_ready_resources{S3Bucket,Reason19} 2",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if n := len(got); n != 4+2*reasonLabel.Most {
		t.Errorf("%d series", n)
	}
}

// replica becomes the leader once elected is closed.
type replica struct {
	cache.Cache
	elected chan struct{}
}

func (r replica) GetCache() cache.Cache    { return r }
func (r replica) Elected() <-chan struct{} { return r.elected }

func TestOnlyTheLeaderCounts(t *testing.T) {
	desc := prometheus.NewDesc("portico_test", "test", nil, nil)
	s := &CacheCollector{
		descs: []*prometheus.Desc{desc},
		read: func(_ context.Context, _ client.Reader, out chan<- prometheus.Metric) error {
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, 1)
			return nil
		},
	}
	collected := func() int {
		out := make(chan prometheus.Metric, 2)
		s.Collect(out)
		return len(out)
	}
	if n := collected(); n != 0 {
		t.Errorf("%d metrics before there is a manager", n)
	}
	r := replica{elected: make(chan struct{})}
	s.SetManager(r)
	if n := collected(); n != 0 {
		t.Errorf("%d metrics of a replica that stands by", n)
	}
	close(r.elected)
	if n := collected(); n != 1 {
		t.Errorf("%d metrics of the leader", n)
	}
}
