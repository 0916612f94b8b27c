package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestAlertsAndDashboardsShipAsTheyAre checks that templating does not change the braces in alerts, and that no
// dashboard is missing.
func TestAlertsAndDashboardsShipAsTheyAre(t *testing.T) {
	files, err := renderWith(t, folder, values(t, "production"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	var rules any
	for _, text := range documents(t, files["portico/templates/monitoring.yaml"]) {
		var object struct {
			Kind string
			Spec any
			Data map[string]string
		}
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if object.Kind == "PrometheusRule" {
			rules = object.Spec
		}
		for name, text := range object.Data {
			shown[strings.TrimPrefix(name, "portico-")] = text
		}
	}
	text, err := os.ReadFile("../../config/monitoring/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := yaml.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(rules, want) {
		t.Error("the alerts are not those of config/monitoring")
	}
	dashboards, err := filepath.Glob("../../config/monitoring/dashboards/*.json")
	if err != nil || len(dashboards) == 0 || len(dashboards) != len(shown) {
		t.Fatalf("%d of the dashboards %v, %v", len(shown), dashboards, err)
	}
	for _, file := range dashboards {
		want, err := os.ReadFile(filepath.Clean(file))
		if err != nil || shown[filepath.Base(file)] != string(want) || !json.Valid(want) {
			t.Errorf("%s is not shipped as it is, %v", file, err)
		}
	}
}
