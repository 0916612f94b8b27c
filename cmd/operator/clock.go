//go:build !chaos

package main

import "time"

// setTime sets the real clock. The build for test/chaos has another clock and time scale: see clock_chaos.go.
func (f *flags) setTime(func(string) string) error {
	f.controllers.Engine.Now = time.Now //nolint:forbidigo // the real clock enters here, and only here
	return nil
}
