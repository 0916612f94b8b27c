// Package podlogs reads logs of containers: line by line, cleaned of what would steer a terminal, bounded, and
// followed.
package podlogs

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode"
)

// What is taken of a log at most, by one page, stream or answer.
const (
	MaxLines = int64(5000)
	MaxBytes = 1 << 20
	// MaxLine is where a line is cut.
	MaxLine = 8 << 10
)

// Lines reads a log line by line. It holds one line at a time: who reads slowly makes the writer wait.
type Lines struct {
	body    io.ReadCloser
	r       *bufio.Reader
	release func()
}

// NewLines reads body. release, which may be nil, is called when the reading ends.
func NewLines(body io.ReadCloser, release func()) *Lines {
	if release == nil {
		release = func() {}
	}
	return &Lines{body: body, r: bufio.NewReaderSize(body, MaxLine), release: release}
}

// BrokenError says that a log ended before its end.
type BrokenError struct{ Cause error }

func (e *BrokenError) Error() string { return "reading a log: " + e.Cause.Error() }

// Close ends the reading; a Next that waits ends with an error.
func (l *Lines) Close() error {
	l.release()
	return l.body.Close()
}

// Next returns the next line as text, without what would steer a terminal and without its end; io.EOF after the last. A
// line above MaxLine is cut there.
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

// skip reads to the end of a line that was cut; that the log ends with it is told by the next read.
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

// Last reads to the end and keeps the last lines, MaxLines and MaxBytes at most; cut says that there were more.
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

// escapes are sequences that steer a terminal: CSI, OSC and its kin up to their end, and the short ones.
var escapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])|\u009b[0-?]*[ -/]*[@-~]")

// CleanLine returns s as one line of plain text: valid UTF-8 without escape sequences, control characters and marks
// that turn the direction of writing. A carriage return within the line becomes a space, since what it hid is shown.
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

// LastLine returns the last line of s that says something.
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
