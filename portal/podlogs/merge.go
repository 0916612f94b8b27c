package podlogs

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Copy is the log of one of an application's Pods, or a part of it. Its lines begin with Kubernetes' timestamps.
type Copy struct {
	Name  string
	Lines []string
}

// Merge merges the lines of all copies by time and prefixes each with "[name] ". The order within a copy is kept.
// Timestamps are removed unless stamps is set.
func Merge(copies []Copy, stamps bool) []string {
	type line struct {
		at   time.Time
		text string
	}
	var all []line
	for _, c := range copies {
		var last time.Time // also the time of lines without a timestamp
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
