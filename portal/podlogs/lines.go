// Package podlogs reads and follows the logs of containers line by line, bounds their size, and removes terminal
// control sequences.
package podlogs

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode"
)

// Limits of one read of a log, for a page, a stream or a response.
const (
	MaxLines = int64(5000)
	MaxBytes = 1 << 20
	// MaxLine is the length in bytes at which a line is cut.
	MaxLine = 8 << 10
)

// Lines reads a log line by line. It buffers one line at a time, so a slow reader slows down the sender.
type Lines struct {
	body    io.ReadCloser
	r       *bufio.Reader
	release func()
}

// NewLines returns a reader of body's lines. Close calls release, which can be nil.
func NewLines(body io.ReadCloser, release func()) *Lines {
	if release == nil {
		release = func() {}
	}
	return &Lines{body: body, r: bufio.NewReaderSize(body, MaxLine), release: release}
}

// BrokenError reports that reading a log failed before its end.
type BrokenError struct{ Cause error }

func (e *BrokenError) Error() string { return "reading a log: " + e.Cause.Error() }

// Close stops reading; a blocked Next returns an error.
func (l *Lines) Close() error {
	l.release()
	return l.body.Close()
}

// Next returns the next line as CleanLine does, and io.EOF after the last one. A line longer than MaxLine is cut.
func (l *Lines) Next() (string, error) {
	raw, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line := CleanLine(string(raw)) + " … (the line is longer)"
		return line, l.skip()
	}
	if err != nil && len(raw) == 0 {
		return "", err
	}
	return CleanLine(string(raw)), nil
}

// skip reads the rest of a line that was cut. It ignores io.EOF, which the next read returns again.
func (l *Lines) skip() error {
	for {
		_, err := l.r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

// Last reads to the end and returns the last lines, at most MaxLines and MaxBytes. cut reports that older lines were
// dropped.
func (l *Lines) Last() (lines []string, cut bool, err error) {
	size := 0
	for {
		line, err := l.Next()
		if errors.Is(err, io.EOF) {
			return lines, cut, nil
		}
		if err != nil {
			return lines, cut, &BrokenError{Cause: err}
		}
		lines, size = append(lines, line), size+len(line)+1
		for size > MaxBytes || int64(len(lines)) > MaxLines {
			size -= len(lines[0]) + 1
			lines, cut = lines[1:], true
		}
	}
}

// escapes matches terminal control sequences: CSI, string sequences such as OSC and DCS up to their terminator, and
// short escapes.
var escapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ " +
	"-/]*[0-~])|\u009b[0-?]*[ -/]*[@-~]")

// CleanLine returns s as one line of plain text: valid UTF-8 without its line end, escape sequences, control characters
// and bidirectional controls. A carriage return within the line becomes a space, because the text that it would
// overwrite is shown.
func CleanLine(s string) string {
	s = strings.ToValidUTF8(strings.TrimRight(s, "\r\n"), "\uFFFD")
	if strings.ContainsAny(s, "\x1b\u009b") {
		s = escapes.ReplaceAllString(s, "")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case r == '\r' || r == '\n' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}

// LastLine returns the last line of s that is not blank.
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
