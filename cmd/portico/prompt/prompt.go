// Package prompt reads lines from a terminal.
package prompt

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
)

// Lines reads line by line. It is not safe for concurrent use.
type Lines struct{ in *bufio.Reader }

// NewLines returns a reader of in's lines.
func NewLines(in io.Reader) *Lines { return &Lines{bufio.NewReader(in)} }

// Read returns the next line without surrounding white space. When ctx ends, it returns the error of ctx at once; the
// next typed line is then lost, because reading cannot be interrupted. At the end of the input, it returns io.EOF if
// the last line is empty.
func (l *Lines) Read(ctx context.Context) (string, error) {
	type answer struct {
		text string
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		text, err := l.in.ReadString('\n')
		typed <- answer{strings.TrimSpace(text), err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-typed:
		if errors.Is(got.err, io.EOF) && got.text != "" {
			got.err = nil
		}
		return got.text, got.err
	}
}
