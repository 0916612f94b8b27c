package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
)

func TestAProviderIsAProblemUntilItWasReached(t *testing.T) {
	answers := []error{
		fmt.Errorf("dial tcp 10.0.0.1:443: %w", syscall.ECONNREFUSED),
		fmt.Errorf("dial tcp 10.0.0.2:443: %w", syscall.ECONNREFUSED),
		errors.New("404 \x00from the proxy"), nil, errors.New("away again"),
	}
	looks := 0
	var log bytes.Buffer
	c := IdentityProvider(slog.New(slog.NewTextHandler(&log, nil)), "https://login.example.com", func(context.Context) error {
		looks++
		return answers[looks-1]
	})
	problems, err := c.Run(t.Context())
	const want = "the identity provider https://login.example.com cannot be reached: connection refused: look at"
	if err != nil || len(problems) != 1 || !strings.HasPrefix(problems[0].String(), want) {
		t.Errorf("before: %v, %v, want %q", problems, err, want)
	}
	for looks < 3 {
		if problems, err := c.Run(t.Context()); err != nil || len(problems) != 1 {
			t.Errorf("look %d: %v, %v", looks, problems, err)
		}
	}
	if got := strings.Count(log.String(), "cause="); got != 2 || !strings.Contains(log.String(), "404 from the proxy") {
		t.Errorf("the log says %d causes, want each once:\n%s", got, &log)
	}
	for range 2 {
		if problems, err := c.Run(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("after: %v, %v", problems, err)
		}
	}
	if looks != 4 {
		t.Errorf("it was asked %d times, want 4", looks)
	}
}
