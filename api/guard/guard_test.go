package guard

import "testing"

// Names that people choose are no questions of their own: whoever makes up new ones would use up the budget of
// everybody.
func TestOneAnswerIsForAllNames(t *testing.T) {
	for path, want := range map[string]string{
		"/people/secrets/pay/one": "/people/secrets/*", "/people/secrets/pay/two": "/people/secrets/*", "/people/reveal/RDSInstance/pay/db": "/people/reveal/*",
		"/people/secrets": "/people/secrets", "/metrics": "/metrics",
	} {
		if got := reviewed(path); got != want {
			t.Errorf("%s is asked about as %s, want %s", path, got, want)
		}
	}
}
