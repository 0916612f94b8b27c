package operator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
)

func TestHistoryTellsWhatHappenedBetweenSamples(t *testing.T) {
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	work := func(since time.Time, s3, throttled int64) Work {
		return Work{Known: true, Activity: operatorapi.Activity{
			Since: since, Services: []operatorapi.Service{{Name: "S3", Calls: s3, Throttled: throttled}},
		}}
	}
	for name, c := range map[string]struct {
		samples []Work
		want    string
	}{
		"the first sample is where it begins": {[]Work{work(began, 50, 0)}, ""},
		"counts are differences":              {[]Work{work(began, 50, 1), work(began, 53, 1), work(began, 60, 3)}, "3/0 7/2"},
		"nothing was asked":                   {[]Work{work(began, 50, 0), work(began, 50, 0)}, "0/0"},
		"the operator is away for a while":    {[]Work{work(began, 5, 0), {}, work(began, 50, 0), work(began, 51, 0)}, "? ? 1/0"},
		"another process takes over":          {[]Work{work(began, 50, 0), work(began.Add(30*time.Second), 4, 1)}, "4/1"},
		"an older process takes over":         {[]Work{work(began, 50, 0), work(began.Add(-time.Hour), 900, 1), work(began.Add(-time.Hour), 901, 1)}, "? 1/0"},
		"a service that is new":               {[]Work{{Known: true, Activity: operatorapi.Activity{Since: began}}, work(began, 2, 0)}, "2/0"},
	} {
		t.Run(name, func(t *testing.T) {
			var h history
			for i, w := range c.samples {
				h.note(began.Add(time.Duration(i)*SampleEvery), w)
			}
			var got []string
			for _, s := range h.spans {
				words := "?"
				if s.Known {
					words = fmt.Sprintf("%d/%d", s.Services["S3"].Calls, s.Services["S3"].Throttled)
				}
				got = append(got, words)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("the spans are %q, want %q", strings.Join(got, " "), c.want)
			}
		})
	}
}

func TestHistoryKeepsAnHour(t *testing.T) {
	var h history
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for i := range Samples + 5 {
		h.note(at.Add(time.Duration(i)*SampleEvery), Work{})
	}
	if len(h.spans) != Samples || !h.spans[Samples-1].At.Equal(at.Add(64*time.Minute)) {
		t.Errorf("%d spans until %s", len(h.spans), h.spans[len(h.spans)-1].At)
	}
}
