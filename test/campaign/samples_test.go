package campaign

import (
	"strings"
	"testing"
	"time"
)

func TestSamplesAreReadByLabel(t *testing.T) {
	all, err := Parse(strings.NewReader("# HELP x y\n" +
		`requests_total{code="200",verb="PATCH",resource="s3buckets"} 3` + "\n" +
		`requests_total{code="409",verb="PATCH",resource="s3buckets"} 2` + "\n" +
		`requests_total{code="200",verb="GET",resource="s3buckets"} 1e3` + "\n" + "up 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if n := all.Sum("requests_total", func(l map[string]string) bool { return l["verb"] == "PATCH" }); n != 5 {
		t.Errorf("got %v patches", n)
	}
	by := all.By("requests_total", func(l map[string]string) string { return strings.TrimPrefix(l["verb"], "GET") })
	if len(by) != 1 || by["PATCH"] != 5 {
		t.Errorf("got %v", by)
	}
	if all.Sum("up", nil) != 1 || all.Sum("requests_total", nil) != 1005 {
		t.Errorf("got %v", all)
	}
	if _, err := Parse(strings.NewReader("up many")); err == nil {
		t.Error("a value that is no number is taken")
	}
}

func TestPercentileIsByNearestRank(t *testing.T) {
	var all []time.Duration
	for i := range 100 {
		all = append(all, time.Duration(100-i))
	}
	if p50, p99 := Percentile(all, 0.5), Percentile(all, 0.99); p50 != 50 || p99 != 99 {
		t.Errorf("got %d and %d", p50, p99)
	}
	if Percentile(nil, 0.5) != 0 {
		t.Error("nothing has a percentile")
	}
}
