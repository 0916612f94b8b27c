//go:build chaos

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// The environment variables of this build. The first names a file with the offset of the wall clock, such as -2h, which
// is read with every reading of the clock. The second is controllers.Options.TimeScale.
const (
	clockVariable = "PORTICO_TEST_CLOCK_OFFSET"
	scaleVariable = "PORTICO_TEST_TIME_SCALE"
)

// setTime sets a clock with a changing offset, and the time scale of AWS.
func (f *flags) setTime(env func(string) string) (err error) {
	now := time.Now //nolint:forbidigo // the real clock, by which this one is wrong
	f.controllers.Engine.Now = now
	if path := env(clockVariable); path != "" {
		if _, err := readOffset(path); err != nil {
			return err
		}
		f.controllers.Engine.Now = func() time.Time {
			offset, err := readOffset(path)
			if err != nil {
				panic(err) // only a mistake in a test causes this
			}
			return shift(now(), offset)
		}
	}
	if scale := env(scaleVariable); scale != "" {
		f.controllers.TimeScale, err = strconv.ParseFloat(scale, 64)
	}
	return err
}

func readOffset(path string) (time.Duration, error) {
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", clockVariable, err)
	}
	offset, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", clockVariable, err)
	}
	return offset, nil
}

// shift moves the wall clock of t by whole seconds and keeps its monotonic reading: within a process, a jump of the
// real clock does not change durations either. The first word of a time.Time with a monotonic reading is one bit, 33
// bits of seconds and 30 bits of nanoseconds.
func shift(t time.Time, offset time.Duration) time.Time {
	wall := (*uint64)(unsafe.Pointer(&t))     //nolint:gosec // package time has no way to do this; a test holds that it works
	*wall += uint64(offset/time.Second) << 30 //nolint:gosec // backwards it overflows, as it should
	return t
}
