package main

import (
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/bench/fakeaws"
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

func TestATableTellsGoalsMissed(t *testing.T) {
	var b strings.Builder
	all := &table{}
	all.goal("time", 4, 2, " s", "")
	all.goal("memory", 50, 100, " MB", "")
	all.calls("calls", fakeaws.Counts{"s3 CreateBucket": {Calls: 4, Errors: 2}}, 2, 0)
	all.print(&b, "title")
	for _, want := range []string{
		"goal 2 s: 2.00 of it, goal missed\n", "goal 100 MB: 0.50 of it\n",
		"s3 CreateBucket 2.00 (1.00 refused)",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
}

func TestScenariosAreChosenByName(t *testing.T) {
	if chosen, err := choose("rest,latency"); err != nil || len(chosen) != 2 || chosen[0].name != "rest" {
		t.Errorf("%v, %v", chosen, err)
	}
	if _, err := choose("speed"); err == nil || !strings.Contains(err.Error(), "first-call") {
		t.Errorf("got %v", err)
	}
}
