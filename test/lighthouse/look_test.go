package lighthouse

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWhatAReportSays(t *testing.T) {
	var r report
	if err := json.Unmarshal([]byte(`{
		"categories": {
			"performance": {"score": 0.8, "auditRefs": [{"id": "total-blocking-time", "weight": 30}, {"id": "bf-cache", "weight": 0}, {"id": "fine", "weight": 1}, {"id": "told", "weight": 0}]},
			"accessibility": {"score": 0.98, "auditRefs": [{"id": "contrast", "weight": 7}, {"id": "by-hand", "weight": 0}]},
			"best-practices": {"score": 1, "auditRefs": []}},
		"audits": {
			"total-blocking-time": {"score": 0.3, "displayValue": "900 ms"}, "bf-cache": {"score": 0, "displayValue": "2 failure reasons"}, "fine": {"score": 0.95},
			"told": {"score": 0, "scoreDisplayMode": "informative"}, "contrast": {"score": 0}, "by-hand": {"score": null}}}`), &r); err != nil {
		t.Fatal(err)
	}
	got := r.read("resources", mobile)
	if strings.Join(got.failed, ", ") != "total-blocking-time 900 ms, contrast" ||
		strings.Join(got.unweighted, ", ") != "bf-cache 2 failure reasons" || got.scores["seo"] != -1 {
		t.Errorf("%+v", got)
	}
	if err := verdict([]result{got}); err == nil ||
		!strings.Contains(err.Error(), "resources on mobile: accessibility is 0.98, and is to be 1.00") {
		t.Errorf("the verdict: %v", err)
	}
	var out strings.Builder
	tableOf([]result{got}).Print(&out)
	if !strings.Contains(out.String(), "| resources | mobile | 0.80 ") {
		t.Errorf("the table:\n%s", out.String())
	}
	got.scores["accessibility"], got.scores["seo"] = 1, 1
	if err := verdict([]result{got}); err == nil ||
		!strings.Contains(err.Error(), "performance is 0.80, and is to be 0.95") {
		t.Errorf("the verdict: %v", err)
	}
	got.scores["performance"] = 0.95
	if err := verdict([]result{got}); err != nil {
		t.Error(err)
	}
}
