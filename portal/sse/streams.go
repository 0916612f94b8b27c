package sse

import (
	"fmt"
	"net/http"
	"sync"
)

// MaxStreams bounds the open streams of one user in one replica: a stream is a visible tab.
const MaxStreams = 20

// TooManyError reports that the user has too many open streams. Its text is for the user.
type TooManyError struct{ Open int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d pages are kept up to date for you already, and there can be no more at a time", e.Open)
}

// Streams counts the open streams of each user. The zero value is ready; it is safe for concurrent use.
type Streams struct {
	mu   sync.Mutex
	open map[string]int // by owner; owners without streams are not kept
}

// Serve serves a stream to owner, the user's unique name; beyond MaxStreams it returns a *TooManyError, and nothing is
// read or sent.
func (s *Streams) Serve(w http.ResponseWriter, r *http.Request, owner string, source Source) error {
	if err := s.enter(owner); err != nil {
		return err
	}
	defer s.leave(owner)
	return Serve(w, r, source)
}

func (s *Streams) enter(owner string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.open[owner]; n >= MaxStreams {
		return &TooManyError{Open: n}
	}
	if s.open == nil {
		s.open = map[string]int{}
	}
	s.open[owner]++
	return nil
}

func (s *Streams) leave(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[owner]--; s.open[owner] == 0 {
		delete(s.open, owner)
	}
}
