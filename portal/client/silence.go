package client

import (
	"context"
	"fmt"
	"io"
	"time"
)

// silence is how long a body can be silent. A stream sends a comment every 15 s.
const silence = time.Minute

// SilentError reports that a server began a response and then stopped sending.
type SilentError struct{ For time.Duration }

func (e *SilentError) Error() string {
	return fmt.Sprintf("it has said nothing for %s: the connection is dead, or a proxy holds the answer back", e.For)
}

// watchedBody is a body that fails after too long a silence.
type watchedBody struct {
	io.ReadCloser
	dog   *time.Timer
	stop  context.CancelCauseFunc
	cause func() error
}

// watchSilence returns body, and calls stop, which cancels ctx, when the body is silent for longer than silence.
func watchSilence(ctx context.Context, body io.ReadCloser, stop context.CancelCauseFunc) io.ReadCloser {
	return &watchedBody{
		ReadCloser: body, stop: stop, cause: func() error { return context.Cause(ctx) },
		dog: time.AfterFunc(silence, func() { stop(&SilentError{silence}) }),
	}
}

// Read returns the reason why the request was cancelled instead of the context's error.
func (g *watchedBody) Read(b []byte) (int, error) {
	n, err := g.ReadCloser.Read(b)
	g.dog.Reset(silence)
	if cause := g.cause(); err != nil && err != io.EOF && cause != nil { //nolint:errorlint // a reader's end is io.EOF itself
		err = cause
	}
	return n, err
}

func (g *watchedBody) Close() error {
	g.dog.Stop()
	g.stop(nil)
	return g.ReadCloser.Close()
}
