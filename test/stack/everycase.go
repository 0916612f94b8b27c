package stack

import "os"

// EveryCase reports whether tests try every case, as make test-all asks with EVERY_CASE. Otherwise tests with many
// cases of the same form try some of them.
func EveryCase() bool { return os.Getenv("EVERY_CASE") != "" }
