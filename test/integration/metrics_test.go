//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/tiers"
)

// sum adds up the series of a metric that have these labels; for a histogram, their counts.
func sum(t *testing.T, name string, labels map[string]string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			matches := 0
			for _, l := range m.GetLabel() {
				if labels[l.GetName()] == l.GetValue() {
					matches++
				}
			}
			if matches == len(labels) {
				total += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(
					m.GetHistogram().GetSampleCount())
			}
		}
	}
	return total
}

func TestMetricsTellWhatHappened(t *testing.T) {
	c := withOperator(t)
	created := map[string]string{"service": "S3", "operation": "CreateBucket", "result": "ok"}
	kind := map[string]string{"kind": "S3Bucket"}
	calls, times, drifts := sum(t, "portico_aws_calls_total", created), sum(t, "portico_time_to_ready_seconds", kind),
		sum(t, "portico_drift_repaired_total", kind)
	b := bucketOf(team(t, c), "counted")
	b.Spec.Versioning = "Enabled"
	createReady(t, c, b)
	if got := sum(t, "portico_aws_calls_total", created) - calls; got != 1 {
		t.Errorf("%v buckets were counted as created, want 1", got)
	}
	await(t, "the time to ready to be observed, which follows the status", func() (bool, string) {
		got := sum(t, "portico_time_to_ready_seconds", kind) - times
		return got == 1, fmt.Sprint(got)
	})
	await(t, "the bucket to be counted as ready", func() (bool, string) {
		return sum(t, "portico_resources", map[string]string{"kind": "S3Bucket", "ready": "true"}) > 0, "not"
	})
	_, err := outside(t, "test").PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
		Bucket:                  aws.String(b.Spec.BucketName),
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusSuspended},
	})
	if err != nil {
		t.Fatal(err)
	}
	requestReconcile(t, c, b, "1")
	await(t, "the repair to be counted", func() (bool, string) {
		return sum(t, "portico_drift_repaired_total", kind)-drifts == 1, "not"
	})
}

// manyNamespaces is more than the number of series per kind that any Portico metric that counts objects can have.
const manyNamespaces = 30

// TestMetricsHaveABound creates objects in many namespaces, which wait for different things, and compares every series
// of Portico's metrics with docs/metrics.md.
func TestMetricsHaveABound(t *testing.T) {
	tiers.Long(t)
	c := admin(t)
	startOperator(t, operatorOptions{leaderElect: true})
	var names []string
	for i := range manyNamespaces {
		ns := team(t, c)
		bucket, lost := bucketOf(ns, fmt.Sprintf("bounded-%d", i)), bucketOf(ns, "lost")
		lost.Spec.ProviderRef.Name = "none"
		app := &v1alpha1.WebApp{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "app"},
			Spec:       v1alpha1.WebAppSpec{Image: "registry.example.com/app:1", Port: 8080, Bindings: []v1alpha1.WebAppBinding{{Kind: "S3Bucket", Name: "none"}}},
		}
		create(t, c, bucket)
		create(t, c, lost)
		create(t, c, app)
		names = append(names, ns, bucket.Name, bucket.Spec.BucketName, lost.Name, app.Name)
	}
	waiting := map[string]string{"kind": "S3Bucket", "reason": "ProviderNotFound"}
	await(t, "all objects to be counted", func() (bool, string) {
		ready, lost := sum(t, "portico_resources", map[string]string{"kind": "S3Bucket", "ready": "true"}),
			sum(t, "portico_not_ready_resources", waiting)
		return ready >= manyNamespaces && lost >= manyNamespaces,
			fmt.Sprintf("%v ready, %v without a provider", ready, lost)
	})
	if age := sum(t, "portico_not_ready_oldest_age_seconds", waiting); age <= 0 {
		t.Errorf("the oldest that waits for its provider is %v s old", age)
	}
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]*dto.MetricFamily{}
	for _, f := range families {
		shown[f.GetName()] = f
	}
	for _, m := range metric.Declared() {
		assertBounded(t, &m, shown[m.Name], names)
	}
	for _, m := range metric.Libraries() {
		assertThere(t, &m, shown[m.Name])
	}
}

// assertBounded compares the series of a metric with its declaration in docs/metrics.md; f is nil if there are none.
func assertBounded(t *testing.T, m *metric.Info, f *dto.MetricFamily, names []string) {
	t.Helper()
	series := len(f.GetMetric())
	if m.Type == metric.TypeHistogram {
		series *= len(m.Buckets) + 3
	}
	if series > m.Series() {
		t.Errorf("%s has %d series, and may have %d", m.Name, series, m.Series())
	}
	values := map[string]map[string]bool{}
	for _, one := range f.GetMetric() {
		for _, l := range one.GetLabel() {
			if slices.Contains(names, l.GetValue()) {
				t.Errorf("%s names an object or a namespace: %s=%q", m.Name, l.GetName(), l.GetValue())
			}
			if values[l.GetName()] == nil {
				values[l.GetName()] = map[string]bool{}
			}
			values[l.GetName()][l.GetValue()] = true
		}
	}
	for _, l := range m.Labels {
		for value := range values[l.Name] {
			if !l.Takes(value) {
				t.Errorf("%s: %s is %q, which docs/metrics.md does not have", m.Name, l.Name, value)
			}
		}
		if l.Most > 0 && len(values[l.Name]) > l.Most {
			t.Errorf("%s: %s has %d values, and may have %d", m.Name, l.Name, len(values[l.Name]), l.Most)
		}
	}
}

// assertThere checks that a library still exports a metric as docs/metrics.md describes it.
func assertThere(t *testing.T, m *metric.Info, f *dto.MetricFamily) {
	t.Helper()
	if len(f.GetMetric()) == 0 {
		t.Errorf("%s is not shown", m.Name)
		return
	}
	var labels []string
	for _, l := range f.GetMetric()[0].GetLabel() {
		labels = append(labels, l.GetName())
	}
	slices.Sort(labels)
	want := m.LabelNames()
	slices.Sort(want)
	if !slices.Equal(labels, want) || !strings.EqualFold(f.GetType().String(), string(m.Type)) {
		t.Errorf("%s is a %s with labels %v, and the page says %s with %v", m.Name, f.GetType(), labels, m.Type, want)
	}
}
