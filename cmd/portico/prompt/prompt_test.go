package prompt

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	lines := NewLines(strings.NewReader("  yes \r\n\nno"))
	for _, want := range []struct {
		text string
		err  error
	}{{"yes", nil}, {"", nil}, {"no", nil}, {"", io.EOF}} {
		if got, err := lines.Read(t.Context()); got != want.text || !errors.Is(err, want.err) {
			t.Errorf("Read() = %q, %v, want %q, %v", got, err, want.text, want.err)
		}
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	in, out := io.Pipe() // nothing is typed
	defer func() { _ = out.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := NewLines(in).Read(ctx); got != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("Read() = %q, %v, want an interrupted one", got, err)
	}
}
