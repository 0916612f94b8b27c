package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/rulefmt"
	"go.yaml.in/yaml/v3"
)

const (
	alertsFile = "config/monitoring/alerts.yaml"
	runbooks   = "https://github.com/portico-platform/portico/blob/main/docs/runbooks/"
)

// promtool runs Prometheus' promtool, which make test-monitoring has built.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "bin/promtool"), args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s (make test-monitoring builds it): %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestAlertsFire(t *testing.T) {
	promtool(t, "check", "rules", "--lint-fatal", "--lint=all", filepath.Join(root, alertsFile))
	promtool(t, "test", "rules", "alerts.yaml")
}

// rules returns the rules of the file, as parsed by Prometheus.
func rules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	var file rulefmt.RuleGroups
	if err := yaml.Unmarshal([]byte(read(t, alertsFile)), &file); err != nil {
		t.Fatal(err)
	}
	var all []rulefmt.Rule
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there are no rules")
	}
	return all
}

// cases counts, for each alert, the test cases in which it fires and those in which it does not.
func cases(t *testing.T) (fires, rests map[string]int) {
	t.Helper()
	var file struct {
		Tests []struct {
			Cases []struct {
				Alert  string `yaml:"alertname"`
				Alerts []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	text, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	fires, rests = map[string]int{}, map[string]int{}
	for _, test := range file.Tests {
		for _, c := range test.Cases {
			if len(c.Alerts) > 0 {
				fires[c.Alert]++
			} else {
				rests[c.Alert]++
			}
		}
	}
	return fires, rests
}

func TestEveryAlertIsTestedAndExplained(t *testing.T) {
	all := metrics(t)
	fires, rests := cases(t)
	pages := map[string]bool{"README": true}
	for _, r := range rules(t) {
		if fires[r.Alert] == 0 || rests[r.Alert] == 0 {
			t.Errorf("%s: alerts.yaml has %d cases in which it fires, and %d in which it does not", r.Alert,
				fires[r.Alert], rests[r.Alert])
		}
		for _, p := range problems(all, r.Expr) {
			t.Errorf("%s: %s", r.Alert, p)
		}
		page, is := strings.CutPrefix(r.Annotations["runbook_url"], runbooks)
		if !is {
			t.Errorf("%s: its runbook_url %q is no page of docs/runbooks", r.Alert, r.Annotations["runbook_url"])
			continue
		}
		pages[strings.TrimSuffix(page, ".md")] = true
		assertRunbook(t, r.Alert, page)
	}
	files, err := filepath.Glob(filepath.Join(root, "docs/runbooks/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".md"); !pages[name] {
			t.Errorf("no alert leads to docs/runbooks/%s.md", name)
		}
	}
}

// assertRunbook checks that the page names the alert and has all sections.
func assertRunbook(t *testing.T, alert, page string) {
	t.Helper()
	text := read(t, "docs/runbooks/"+page)
	for _, part := range []string{
		"`" + alert + "`", "## Meaning\n", "## Impact\n", "## How to look\n",
		"## What to do\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("docs/runbooks/%s has no %q", page, part)
		}
	}
	if list := read(t, "docs/runbooks/README.md"); !strings.Contains(list, "`"+alert+"`") ||
		!strings.Contains(list, "("+page+")") {
		t.Errorf("docs/runbooks/README.md does not lead from %s to %s", alert, page)
	}
}
