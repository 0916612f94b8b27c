// Package tiers says which tests and which of their cases run: make test runs those that show a newcomer that the tree
// works, .ci/run those without which nothing lands, make test-all each case.
package tiers

import (
	"os"
	"testing"
)

// Long skips a test with -short, as make test runs it. It is for tests that take more than some 12 s of processor time,
// or wait for long.
func Long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("make test leaves it out, for its time; CI runs it")
	}
}

// EveryCase reports whether tests try every case, as make test-all asks with EVERY_CASE. Otherwise tests with many
// cases of the same form try some of them.
func EveryCase() bool { return os.Getenv("EVERY_CASE") != "" }
