package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

// leakBy is how much memory each click leaks, in bytes.
const leakBy = 64 << 20

// trouble is what goes wrong on purpose. The zero value is an application without any.
type trouble struct {
	mu      sync.Mutex
	leaked  [][]byte
	failing bool
}

// crash ends the process, after the answer.
func (*trouble) crash(context.Context, string) (string, error) {
	time.AfterFunc(time.Second, func() { os.Exit(1) })
	return "the application ends in a second; Kubernetes starts it again", nil
}

// leak takes memory and keeps it, until the limit of the container ends the process.
func (t *trouble) leak(context.Context, string) (string, error) {
	more := make([]byte, leakBy)
	for i := 0; i < len(more); i += 4096 { // the system gives memory that is written to
		more[i] = 1
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaked = append(t.leaked, more)
	return fmt.Sprintf("%d MiB are lost", len(t.leaked)*leakBy>>20), nil
}

// failProbe makes the health check fail, or no longer fail.
func (t *trouble) failProbe(context.Context, string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failing = !t.failing
	if t.failing {
		return "the health check fails: soon this Pod gets no more requests, and is started again", nil
	}
	return "the health check succeeds again", nil
}

func (t *trouble) state() (leaked int, failing bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.leaked) * leakBy >> 20, t.failing
}

func (t *trouble) health(w http.ResponseWriter, _ *http.Request) {
	if _, failing := t.state(); failing {
		http.Error(w, "it was asked to fail", http.StatusServiceUnavailable)
	}
}
