package check

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
)

func TestAProviderIsAProblemUntilItWasReached(t *testing.T) {
	answers := []error{syscall.ECONNREFUSED, nil, errors.New("away again")}
	looks := 0
	c := IdentityProvider("https://login.example.com", func(context.Context) error {
		looks++
		return answers[looks-1]
	})
	problems, err := c.Run(t.Context())
	const want = "the identity provider https://login.example.com cannot be reached: connection refused: look at"
	if err != nil || len(problems) != 1 || !strings.HasPrefix(problems[0].String(), want) {
		t.Errorf("before: %v, %v, want %q", problems, err, want)
	}
	for range 2 {
		if problems, err := c.Run(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("after: %v, %v", problems, err)
		}
	}
	if looks != 2 {
		t.Errorf("it was asked %d times, want 2", looks)
	}
}
