package server

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
)

// A server whose response does not end is disconnected after mostAnswered bytes. Each statement starts a new count.
func TestAConnectionEndsAfterSoManyBytes(t *testing.T) {
	counter := &answers{}
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = theirs.Close() })
	go func() {
		for chunk := []byte(strings.Repeat("x", 1<<16)); ; {
			if _, err := theirs.Write(chunk); err != nil {
				return
			}
		}
	}()
	conn, err := counter.counted(func(context.Context, string, string) (net.Conn, error) { return ours, nil })(
		t.Context(), "tcp", "")
	if err != nil {
		t.Fatal(err)
	}
	read := func(most int) (all int, err error) {
		for into := make([]byte, 1<<16); err == nil && all < most; {
			var n int
			n, err = conn.Read(into)
			all += n
		}
		return all, err
	}
	for range 3 {
		counter.next()
		if _, err := read(mostAnswered / 2); err != nil {
			t.Fatalf("an answer of half the limit: %v", err)
		}
	}
	if all, err := read(10 * mostAnswered); !errors.Is(err, errTooMuch) || all > mostAnswered || !counter.over() {
		t.Errorf("%d bytes, %v", all, err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
	if (&mysqlServer{answers: counter}).lost(errLost) != errTooMuch { //nolint:errorlint // just that one
		t.Error("the driver's own error hides that it was too much")
	}
}
