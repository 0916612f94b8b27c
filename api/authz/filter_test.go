package authz

import "testing"

// One answer counts for all names that people choose: otherwise a person could exhaust everybody's budget with new
// names.
func TestOneAnswerIsForAllNames(t *testing.T) {
	for path, want := range map[string]string{
		"/people/secrets/pay/one": "/people/secrets/*", "/people/secrets/pay/two": "/people/secrets/*",
		"/people/reveal/RDSInstance/pay/db": "/people/reveal/*",
		"/people/secrets":                   "/people/secrets", "/metrics": "/metrics",
	} {
		if got := reviewed(path); got != want {
			t.Errorf("%s is asked about as %s, want %s", path, got, want)
		}
	}
}
