package silence

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"
)

type answers struct{ err error }

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusInternalServerError, Body: http.NoBody}, a.err
}

func TestItSaysForHowLongNothingWasAnswered(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	w := New(func() time.Time { return now })
	refused := errors.New("connection refused")
	for i, step := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{context.Canceled, ""},
		{refused, "the Kubernetes API server does not answer, for 0s now"},
		{context.Canceled, "the Kubernetes API server does not answer, for 10s now"},
		{context.DeadlineExceeded, "the Kubernetes API server does not answer, for 20s now"},
		{nil, ""}, // any answer counts
		{refused, "the Kubernetes API server does not answer, for 0s now"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://kubernetes", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := w.Transport(answers{step.err}).RoundTrip(request); err == nil {
			_ = resp.Body.Close()
		}
		got := ""
		if err := w.Err(); err != nil {
			got = err.Error()
		}
		if got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
		now = now.Add(10 * time.Second)
	}
}
