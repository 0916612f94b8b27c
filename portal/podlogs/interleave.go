package podlogs

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Copy is the log, or a part of it, of one of several that are read as one. Its lines begin with the timestamps of
// Kubernetes.
type Copy struct {
	Name  string
	Lines []string
}

// Interleave returns the lines of all copies by their time, each with the name of its copy in front; those of one copy
// stay in their order. The timestamps stay if stamps is set.
func Interleave(copies []Copy, stamps bool) []string {
	type line struct {
		at   time.Time
		text string
	}
	var all []line
	for _, c := range copies {
		var last time.Time // of lines without a timestamp, too
		for _, text := range c.Lines {
			stamp, rest, _ := strings.Cut(text, " ")
			if at, err := time.Parse(time.RFC3339Nano, stamp); err != nil {
				rest, stamp = text, ""
			} else if at.After(last) {
				last = at
			}
			if stamps && stamp != "" {
				rest = stamp + " " + rest
			}
			all = append(all, line{last, "[" + c.Name + "] " + rest})
		}
	}
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].text
	}
	return out
}
