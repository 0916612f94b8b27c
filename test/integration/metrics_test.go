//go:build integration

package integration

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// sum adds up the series of a metric that carry these labels; of a histogram its count.
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
				total += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return total
}

func TestMetricsTellWhatHappened(t *testing.T) {
	c := admin(t)
	startOperator(t, operatorOptions{})
	created := map[string]string{"service": "S3", "operation": "CreateBucket", "result": "ok"}
	kind := map[string]string{"kind": "S3Bucket"}
	calls, times, drifts := sum(t, "portico_aws_calls_total", created), sum(t, "portico_time_to_ready_seconds", kind), sum(t, "portico_drift_repaired_total", kind)
	b := bucketOf(team(t, c), "counted")
	b.Spec.Versioning = "Enabled"
	create(t, c, b)
	ready(t, c, b)
	if got := sum(t, "portico_aws_calls_total", created) - calls; got != 1 {
		t.Errorf("%v buckets were counted as created, want 1", got)
	}
	if got := sum(t, "portico_time_to_ready_seconds", kind) - times; got != 1 {
		t.Errorf("%v times to ready were observed, want 1", got)
	}
	await(t, "the bucket to be counted as ready", func() (bool, string) {
		return sum(t, "portico_resources", map[string]string{"kind": "S3Bucket", "namespace": b.Namespace, "ready": "true"}) == 1, "not"
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
