//go:build !chaos

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTheClockIsTheRealOne: released builds ignore the environment variables of the build for test/chaos.
func TestTheClockIsTheRealOne(t *testing.T) {
	offset := filepath.Join(t.TempDir(), "offset")
	if err := os.WriteFile(offset, []byte("5h"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := parse([]string{"--namespace=n"},
		environment("PORTICO_TEST_CLOCK_OFFSET", offset, "PORTICO_TEST_TIME_SCALE", "0.01"), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if off := time.Until(f.controllers.Engine.Now()).Abs(); off > time.Minute || f.controllers.TimeScale != 0 {
		t.Errorf("the clock is off by %s, the scale is %v", off, f.controllers.TimeScale)
	}
}
