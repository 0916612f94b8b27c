//go:build !chaos

package main

import "time"

// setTime gives the operator the real clock, and AWS's own times. The build for test/chaos has others: see
// clock_chaos.go.
func (f *flags) setTime(func(string) string) error {
	f.controllers.Engine.Now = time.Now //nolint:forbidigo // the real clock enters here, and only here
	return nil
}
