package monitoring

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// metric is a row of docs/metrics.md, which is generated from the registered metrics.
type metric struct {
	histogram bool
	labels    map[string][]string // values by label; nil if they cannot be listed
}

var (
	row   = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| [^|]* \\| (\\w+) \\| [^|]* \\| ([^|]*) \\| \\d+ \\|")
	label = regexp.MustCompile("^`(\\w+)`: (.*)$")
)

// metrics returns the metrics of the page, by name.
func metrics(t *testing.T) map[string]metric {
	t.Helper()
	all := map[string]metric{}
	for _, found := range row.FindAllStringSubmatch(read(t, "docs/metrics.md"), -1) {
		m := metric{histogram: found[2] == "histogram", labels: map[string][]string{}}
		for text := range strings.SplitSeq(found[3], "<br>") {
			if l := label.FindStringSubmatch(text); l != nil {
				m.labels[l[1]] = nil
				if !strings.Contains(l[2], "(at most ") {
					m.labels[l[1]] = strings.Split(l[2], ", ")
				}
			}
		}
		all[found[1]] = m
	}
	if len(all) < 20 {
		t.Fatalf("docs/metrics.md has %d metrics that this test can read", len(all))
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(root + "/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
