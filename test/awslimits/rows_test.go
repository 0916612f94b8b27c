package awslimits_test

import (
	"flag"
	"os"
	"testing"

	"github.com/portico-platform/portico/test/awslimits"
)

var update = flag.Bool("update", false, "write docs/aws-limits.md again")

func TestThePageOfLimitsIsWhole(t *testing.T) {
	const file = "../../docs/aws-limits.md"
	if *update {
		if err := os.WriteFile(file, []byte(awslimits.Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != awslimits.Page() {
		t.Errorf("%s is not what the rows say: run go test ./test/awslimits -update (%v)", file, err)
	}
	seen := map[string]bool{}
	for _, r := range awslimits.Rows() {
		if seen[r.Name] || r.Page == "" || r.Says == "" {
			t.Errorf("%s is there twice, or lacks its page or our sentence", r.Name)
		}
		seen[r.Name] = true
	}
}
