package tracing

import (
	"net/http"
	"testing"
)

type plain struct{}

func (plain) RoundTrip(*http.Request) (*http.Response, error) { return nil, http.ErrServerClosed }
func (plain) ServeHTTP(http.ResponseWriter, *http.Request)    {}
func noRoute(*http.Request) string                            { return "" }

// What is off is not there: nothing stands between a request and its handler, and asking allocates nothing.
func TestOffCostsNothing(t *testing.T) {
	if got := Transport(plain{}); got != http.RoundTripper(plain{}) {
		t.Errorf("requests to Kubernetes go through %T", got)
	}
	if got := Requests(plain{}, noRoute); got != http.Handler(plain{}) {
		t.Errorf("requests go through %T", got)
	}
	if n := testing.AllocsPerRun(100, func() {
		if On() {
			t.Error("it is on")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
