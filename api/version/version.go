// Package version returns which release of Portico a binary is.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// Set by the linker in a release (make release). Other builds use what Go recorded about the work tree.
var number, commit, date string

// Development is the version of a build of which nothing is known, such as a test.
const Development = "development"

// Info is where a binary comes from.
type Info struct {
	Version string // such as v0.1.0; v0.0.0-20261123010203-0123456789ab between releases; Development if unknown
	Commit  string // full hash, with +dirty if the work tree had changes; "" if unknown
	Date    string // of the commit, RFC 3339; "" if unknown
	Go      string // such as go1.26.8
}

// Get returns the version of this binary. It is computed once, because every page shows it.
var Get = sync.OnceValue(func() Info {
	i := Info{Version: number, Commit: commit, Date: date, Go: runtime.Version()}
	if build, ok := debug.ReadBuildInfo(); ok {
		i.fill(build)
	}
	i.Version = cmp.Or(i.Version, Development)
	return i
})

// fill takes from build what the linker did not say.
func (i *Info) fill(build *debug.BuildInfo) {
	if build.Main.Version != "(devel)" {
		i.Version = cmp.Or(i.Version, build.Main.Version)
	}
	if i.Commit != "" {
		return
	}
	of := map[string]string{}
	for _, s := range build.Settings {
		of[s.Key] = s.Value
	}
	i.Commit, i.Date = of["vcs.revision"], of["vcs.time"]
	if i.Commit != "" && of["vcs.modified"] == "true" {
		i.Commit += "+dirty"
	}
}

// String returns one line for people, such as "v0.1.0 (commit 0123456789ab of 2026-11-23T01:02:03Z, go1.26.8)".
func (i Info) String() string {
	if i.Commit == "" {
		return fmt.Sprintf("%s (%s)", i.Version, i.Go)
	}
	return fmt.Sprintf("%s (commit %.12s of %s, %s)", i.Version, i.Commit, i.Date, i.Go)
}
