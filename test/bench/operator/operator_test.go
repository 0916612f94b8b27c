package operator

import (
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/campaign"
)

func TestWritesAreThoseTheOperatorMayMake(t *testing.T) {
	for _, x := range []struct {
		verb, group, resource string
		counts                bool
	}{
		{"PATCH", "portico.dev", "s3buckets", true},
		{"POST", "portico.dev", "s3buckets", false}, // the benchmark's own
		{"POST", "", "secrets", true},
		{"POST", "events.k8s.io", "events", true},
		{"APPLY", "apps", "deployments", true},
		{"PATCH", "apps", "deployments", false}, // of another controller
		{"GET", "", "secrets", false},
		{"DELETE", "", "secrets", false}, // by the garbage collector
		{"PUT", "coordination.k8s.io", "leases", false},
		{"POST", "portico.dev", "domainclaims", true},
		{"PUT", "", "configmaps", true},   // the hostname ledger
		{"POST", "", "configmaps", false}, // every namespace has one from the start
		{"PATCH", "gateway.networking.k8s.io", "gateways", false},
		{"APPLY", "gateway.networking.k8s.io", "listenersets", true},
	} {
		if got := ofOperator(map[string]string{
			"verb": x.verb, "group": x.group, "resource": x.resource,
		}); got != x.counts {
			t.Errorf("%+v: got %v", x, got)
		}
	}
}

func TestCallsAreThoseForEachResource(t *testing.T) {
	var b strings.Builder
	all := &campaign.Results{}
	calls(all, "calls", fakeaws.Counts{"s3 CreateBucket": {Calls: 4, Errors: 2}}, 2, 0)
	all.Print(&b)
	if want := "s3 CreateBucket 2.00 (1.00 refused)"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in:\n%s", want, b.String())
	}
}
