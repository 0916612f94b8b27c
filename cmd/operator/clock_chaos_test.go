//go:build chaos

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTheClockJumpsOnTheWallOnly: the wall clock jumps forwards and backwards without changing measured durations.
func TestTheClockJumpsOnTheWallOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "offset")
	say := func(offset string) {
		if err := os.WriteFile(path, []byte(offset), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	say("0s")
	f, err := parse([]string{"--namespace=n"}, environment(clockVariable, path, scaleVariable, "0.01"), &bytes.Buffer{})
	if err != nil || f.controllers.TimeScale != 0.01 {
		t.Fatal(f, err)
	}
	now := f.controllers.Engine.Now
	for _, offset := range []time.Duration{0, 5 * time.Hour, -3 * time.Hour, -time.Second} {
		before := time.Now()
		say(offset.String())
		after := now()
		if jump := after.Round(0).Sub(before.Round(0)) - offset; jump < 0 || jump > time.Minute {
			t.Errorf("%s: off by %s", offset, jump)
		}
		if took := after.Sub(before); took < 0 || took > time.Minute {
			t.Errorf("%s: it took %s", offset, took)
		}
	}
	if _, err := parse([]string{"--namespace=n"}, environment(clockVariable, path+"-none"),
		&bytes.Buffer{}); err == nil {
		t.Error("a file that is not there is taken")
	}
}
