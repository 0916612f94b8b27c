package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/portico-platform/portico/cmd/portico/session"
	"github.com/portico-platform/portico/portal/client"
)

// Exit codes, which scripts may rely on.
const (
	exitError       = 1
	exitUsage       = 2
	exitTimeout     = 3
	exitLogin       = 4 // not logged in, or the token is refused
	exitNotFound    = 5
	exitForbidden   = 6
	exitInterrupted = 130
)

// usageError reports an invalid command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// timeoutError reports that a wait timed out.
type timeoutError struct{ text string }

func (e *timeoutError) Error() string { return e.text }

// forbiddenError reports that a right was lost meanwhile.
type forbiddenError struct{ text string }

func (e *forbiddenError) Error() string { return e.text }

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	if _, ok := errors.AsType[*forbiddenError](err); ok {
		return exitForbidden
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*timeoutError](err); ok {
		return exitTimeout
	}
	if _, ok := errors.AsType[*session.NoLoginError](err); ok {
		return exitLogin
	}
	if _, ok := errors.AsType[*session.JobError](err); ok {
		return exitLogin
	}
	switch client.StatusOf(err) {
	case http.StatusUnauthorized:
		return exitLogin
	case http.StatusForbidden:
		return exitForbidden
	case http.StatusNotFound:
		return exitNotFound
	}
	return exitError
}

// errInterrupted replaces an error after the user interrupted the command.
var errInterrupted = errors.New("interrupted")

// interruptible returns errInterrupted for err if the user interrupted the command, so that no other cause is reported.
// It keeps the path of a kept file.
func interruptible(ctx context.Context, err error) error {
	if ctx.Err() == nil || err == nil {
		return err
	}
	if kept, ok := errors.AsType[*keptError](err); ok {
		return &keptError{cause: errInterrupted, path: kept.path}
	}
	return errInterrupted
}

// complain prints an error: one line, and below it the error of each field.
func complain(w io.Writer, err error) {
	if err == errInterrupted { //nolint:errorlint // a wrapped one says more
		return // the user knows
	}
	p, ok := errors.AsType[*client.APIError](err)
	var text strings.Builder
	said, hint, _ := strings.Cut(err.Error(), hintMark)
	_, _ = fmt.Fprintf(&text, "portico: %s\n", clean(said))
	if hint != "" {
		_, _ = fmt.Fprintf(&text, "  %s\n", clean(hint))
	}
	if ok {
		text.WriteString(places(p))
		text.WriteString(advice(p))
	}
	_, _ = io.WriteString(w, text.String()) // nowhere to report it
}

// places lists the error of each field. A single one that the detail contains is not repeated.
func places(p *client.APIError) string {
	var b strings.Builder
	for _, f := range p.Errors {
		switch {
		case len(p.Errors) == 1 && strings.Contains(p.Detail, f.Message):
		case f.Field() == "":
			_, _ = fmt.Fprintf(&b, "  %s\n", clean(f.Message))
		default:
			_, _ = fmt.Fprintf(&b, "  %s: %s\n", clean(f.Field()), clean(f.Message))
		}
	}
	return b.String()
}

// advice returns what to do about an error if the API's message does not say, or "".
func advice(p *client.APIError) string {
	switch {
	case p.Status == http.StatusUnauthorized:
		return "  Run portico login, or set PORTICO_TOKEN to a token for this portal.\n"
	case p.Status == http.StatusNotFound:
		return "  See what there is with portico get.\n"
	case p.Status == http.StatusForbidden:
		return "  Ask those who manage access to the namespace; portico whoami says who you are here.\n"
	case p.Status >= http.StatusInternalServerError && p.Instance != "":
		return "  Tell the admins of the portal this: " + clean(p.Instance) + "\n"
	}
	return ""
}

// clean replaces terminal control characters in others' text by blanks.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || (r >= 0x7f && r < 0xa0) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) {
			return ' '
		}
		return r
	}, s)
}
