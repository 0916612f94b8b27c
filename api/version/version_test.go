package version

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestTheLinkerIsBelievedFirst(t *testing.T) {
	build := &debug.BuildInfo{
		Main: debug.Module{Version: "v0.0.0-20261123010203-0123456789ab+dirty"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-11-23T01:02:03Z"}, {Key: "vcs.modified", Value: "true"},
		},
	}
	for _, x := range []struct{ linked, want Info }{
		{Info{}, Info{Version: build.Main.Version, Commit: "0123456789abcdef+dirty", Date: "2026-11-23T01:02:03Z"}},
		{Info{Version: "v0.1.0", Commit: "fedc", Date: "2026-11-24T00:00:00Z"}, Info{Version: "v0.1.0", Commit: "fedc", Date: "2026-11-24T00:00:00Z"}},
	} {
		got := x.linked
		if got.fill(build); got != x.want {
			t.Errorf("%+v became %+v, want %+v", x.linked, got, x.want)
		}
	}
	nothing := Info{}
	if nothing.fill(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}); nothing != (Info{}) {
		t.Errorf("out of nothing came %+v", nothing)
	}
}

func TestALineForPeople(t *testing.T) {
	for want, i := range map[string]Info{
		"v0.1.0 (commit 0123456789ab of 2026-11-23T01:02:03Z, go1.26.8)": {"v0.1.0", "0123456789abcdef", "2026-11-23T01:02:03Z", "go1.26.8"},
		"development (go1.26.8)": {Version: Development, Go: "go1.26.8"},
	} {
		if got := i.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Get(); !strings.HasPrefix(got.Go, "go") || got.Version == "" {
		t.Errorf("this test is %+v", got)
	}
}
