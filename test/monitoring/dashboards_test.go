package monitoring

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// dashboard has the fields of Grafana's JSON that are checked.
type dashboard struct {
	UID, Title string
	Panels     []panel
	Templating struct{ List []struct{ Name, Type string } }
}

type panel struct {
	ID                       int
	Title, Type, Description string
	Datasource               source
	GridPos                  struct{ H, W, X, Y int }
	Targets                  []struct {
		Expr, RefID, LegendFormat string
		Datasource                source
	}
}

type source struct{ Type, UID string }

func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "config/monitoring/dashboards/*.json"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d dashboards, %v", len(files), err)
	}
	all := map[string]dashboard{}
	for _, file := range files {
		path, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		var d dashboard
		if err := json.Unmarshal([]byte(read(t, path)), &d); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[path] = d
	}
	return all
}

// TestDashboardsShowWhatThereIs parses every expression, and checks each metric and label against docs/metrics.md.
func TestDashboardsShowWhatThereIs(t *testing.T) {
	all, uids := metrics(t), map[string]string{}
	for path, d := range dashboards(t) {
		if d.UID == "" || uids[d.UID] != "" || d.Title == "" {
			t.Errorf("%s: its uid %q is empty, or that of %s, or it has no title", path, d.UID, uids[d.UID])
		}
		uids[d.UID] = path
		if l := d.Templating.List; len(l) != 1 || l[0].Name != "datasource" || l[0].Type != "datasource" {
			t.Errorf("%s: the data source cannot be chosen, or it has other variables: %+v", path, l)
		}
		ids := map[int]bool{}
		for i := range d.Panels {
			p := &d.Panels[i]
			if ids[p.ID] || p.Title == "" {
				t.Errorf("%s: the panel %d, %q, shares its ID, or has no title", path, p.ID, p.Title)
			}
			if at := p.GridPos; at.X+at.W > 24 || at.H == 0 {
				t.Errorf("%s: the panel %q is at %+v, want it within 24 columns", path, p.Title, at)
			}
			if p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
				t.Errorf("%s: the panel %q has the data source %q and %d targets, want ${datasource} and some",
					path, p.Title, p.Datasource.UID, len(p.Targets))
			}
			ids[p.ID] = true
			for _, target := range p.Targets {
				for _, problem := range problems(all, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")) {
					t.Errorf("%s, %s: %s", path, p.Title, problem)
				}
			}
		}
	}
}
