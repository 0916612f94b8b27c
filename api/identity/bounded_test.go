package identity

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAnAnswerOfTheProviderIsReadToItsLimit: one that does not end is given up.
func TestAnAnswerOfTheProviderIsReadToItsLimit(t *testing.T) {
	for size, ok := range map[int]bool{maxAnswer: true, maxAnswer + 1: false, 8 * maxAnswer: false} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(" ", size)) // the reader may have gone
		}))
		resp, err := (&http.Client{Transport: Bounded(nil)}).Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if len(got) > maxAnswer {
			t.Errorf("%d bytes: read %d, want at most %d", size, len(got), maxAnswer)
		}
		if (err == nil) != ok || !ok && !strings.Contains(err.Error(), "larger than 1024 KiB") {
			t.Errorf("%d bytes: error = %v, want one: %v", size, err, !ok)
		}
		_ = resp.Body.Close()
		srv.Close()
	}
}
