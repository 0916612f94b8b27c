package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/campaign"
)

func TestFlagsThatMakeNoSenseAreSaid(t *testing.T) {
	for want, args := range map[string][]string{
		"unexpected argument \"now\"":    {"now"},
		"-run is missing":                {},
		"there is no scenario \"speed\"": {"-run", "speed"},
		"flag provided but not defined":  {"-seconds", "3"},
	} {
		if err := run(t.Context(), table(), args, &bytes.Buffer{}, &bytes.Buffer{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func unnamed(s campaign.Scenario) bool { return s.Name == "" }

func TestScenariosAreListed(t *testing.T) {
	var out, help bytes.Buffer
	if err := run(t.Context(), table(), []string{"-list"}, &out, &help); err != nil {
		t.Fatal(err)
	}
	_ = run(t.Context(), table(), []string{"-help"}, &out, &help)
	for _, want := range []string{"bench-operator/latency ", " 30s ", " 4m ", "bench-portal "} {
		if !strings.Contains(out.String(), want) || !strings.Contains(help.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	for _, c := range table() {
		if len(c.Scenarios) > 1 && slices.ContainsFunc(c.Scenarios, unnamed) {
			t.Errorf("%s has several scenarios, and one without a name", c.Name)
		}
		for _, s := range c.Scenarios {
			if s.Does == "" || s.Takes == 0 {
				t.Errorf("%s: %+v is not complete", c.Name, s)
			}
		}
	}
	if want := "-bench-portal.small"; !strings.Contains(help.String(), want) {
		t.Errorf("no %s in:\n%s", want, help.String())
	}
}
