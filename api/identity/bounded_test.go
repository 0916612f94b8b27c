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
		if (err == nil) != ok || len(got) > maxAnswer || err != nil && !strings.Contains(
			err.Error(), "larger than 1024 KiB") {
			t.Errorf("%d bytes: %d were read, %v", size, len(got), err)
		}
		_ = resp.Body.Close()
		srv.Close()
	}
}
