package campaign

import (
	"context"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestScenariosAreChosenByName(t *testing.T) {
	var ran []string
	run := func(name string, scenarios ...string) Campaign {
		c := Campaign{Name: name}
		for _, s := range scenarios {
			c.Scenarios = append(c.Scenarios, Scenario{Name: s, Does: "it does " + s, Takes: time.Minute})
		}
		c.Run = func(_ context.Context, r Run) error {
			for _, s := range scenarios {
				if r.Chosen(s) {
					ran = append(ran, name+"/"+s)
				}
			}
			return nil
		}
		return c
	}
	all := Table{run("bench", "rest", "latency"), run("chaos", "")}
	for pattern, want := range map[string][]string{
		"rest": {"bench/rest"}, "^bench/": {"bench/rest", "bench/latency"}, "^chaos$": {"chaos/"},
		"latency|chaos": {"bench/latency", "chaos/"},
	} {
		ran = nil
		if err := all.Run(t.Context(), []string{pattern}, Run{}); err != nil || !slices.Equal(ran, want) {
			t.Errorf("%s: %v, %v, want %v", pattern, ran, err, want)
		}
	}
	ran = nil
	if err := all.Run(t.Context(), []string{"latency", "speed"}, Run{}); err == nil || len(ran) > 0 ||
		!strings.Contains(err.Error(), "bench/latency  1m  it does") {
		t.Errorf("got %v", err)
	}
	if err := all.Run(t.Context(), []string{"("}, Run{}); err == nil {
		t.Error("a pattern that is none is taken")
	}
}

func TestACampaignThatFailsIsNamedAndTheLast(t *testing.T) {
	fails := func(context.Context, Run) error { return errors.New("it broke") }
	one := []Scenario{{}}
	all := Table{{Name: "a", Scenarios: one, Run: fails}, {Name: "b", Scenarios: one, Run: fails}}
	err := all.Run(t.Context(), []string{""}, Run{})
	if err == nil || err.Error() != "a: it broke" {
		t.Errorf("got %v", err)
	}
}

func TestFlagsBeginWithTheirCampaign(t *testing.T) {
	var rounds int
	all := Table{
		{Name: "restart", Flags: func(f *flag.FlagSet) { f.IntVar(&rounds, "rounds", 2, "how often") }},
		{Name: "upgrade", Flags: func(f *flag.FlagSet) { f.Int("rounds", 3, "how often") }},
	}
	flags := flag.NewFlagSet("campaign", flag.ContinueOnError)
	all.Define(flags)
	if err := flags.Parse([]string{"-restart.rounds", "5"}); err != nil || rounds != 5 {
		t.Errorf("%d rounds, %v", rounds, err)
	}
	if got := flags.Lookup("upgrade.rounds").Value.String(); got != "3" {
		t.Errorf("the other campaign has %s rounds", got)
	}
}
