// Package prompt reads what somebody types at a terminal.
package prompt

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
)

// Lines reads line by line. It is for one caller at a time.
type Lines struct{ in *bufio.Reader }

// NewLines returns the lines of an input.
func NewLines(in io.Reader) *Lines { return &Lines{bufio.NewReader(in)} }

// Read returns the next line, without white space around it. It returns at once when ctx ends, with its error; the line
// that is typed then is lost, for reading cannot be interrupted. An input that ends with an empty line returns io.EOF.
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
