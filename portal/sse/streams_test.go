package sse

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

func TestStreamsOfOneUserAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Streams
		p := &page{parts: []Part{part("a", "1")}, changed: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		open := func(owner string) (end func() error) {
			done := make(chan error, 1)
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/live", nil)
			go func() { done <- s.Serve(&screen{}, r, owner, p.source()) }()
			synctest.Wait()
			return func() error { return <-done }
		}
		var ends []func() error
		for range MaxStreams {
			ends = append(ends, open("alice"))
		}
		renders := p.renders
		var tooMany *TooManyError
		if err := open("alice")(); !errors.As(err, &tooMany) || tooMany.Open != MaxStreams || p.renders != renders {
			t.Errorf("one stream more: %v, rendered %d times", err, p.renders-renders)
		}
		ends = append(ends, open("bob"))
		cancel()
		for _, end := range ends {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
		if len(s.open) > 0 {
			t.Errorf("after all ended %v are open", s.open)
		}
	})
}

func TestCarriageReturnsAreLineEnds(t *testing.T) {
	got := string(message("", "a\rid: b\r\nevent: finished\rc"))
	want := "data: a\ndata: id: b\ndata: event: finished\ndata: c\n\n"
	if got != want || strings.Contains(got, "\r") {
		t.Errorf("%q, want %q", got, want)
	}
}
