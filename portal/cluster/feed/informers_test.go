package feed

import (
	"strings"
	"testing"
)

func TestThePortalIsReadyOnceAllThatWasThereIsHandled(t *testing.T) {
	full := map[string]bool{}
	f := &Feed{watches: watches{filled: map[string]func() bool{}}}
	w := &f.watches
	for _, what := range []string{"s3buckets", "events"} {
		w.filled[what] = func() bool { return full[what] }
	}
	expect := func(when, want string) {
		t.Helper()
		err := f.Ready()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", when, err, want)
		}
	}
	expect("before all is watched", "nothing is watched yet")
	w.begun = true
	full["events"] = true
	expect("while one is not filled", "the cache of s3buckets is not filled yet")
	full["s3buckets"] = true
	expect("at last", "")
}
