package campaign

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"
)

// FreeAddresses returns two free addresses on loopback.
func FreeAddresses(ctx context.Context) (one, other string, err error) {
	var all [2]string
	for i := range all {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		defer func() { _ = l.Close() }()
		all[i] = l.Addr().String()
	}
	return all[0], all[1], nil
}

// Pause waits for d, or returns the context's error if that ends first.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Patience is the longest time that Until waits. It is no goal: what is measured against one has a shorter limit.
const Patience = 10 * time.Minute

// word is the interval of the messages about a wait.
const word = 20 * time.Second

// Until calls done at intervals until it returns nil. If it waits for too long, its error has the last one of done.
func (w *World) Until(ctx context.Context, every time.Duration, what string, done func() error) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	said := time.Now()
	for {
		err := done()
		if err == nil {
			return nil
		}
		if time.Since(said) > word {
			said = time.Now()
			w.Say("still waiting for %s: %v", what, err)
		}
		if Pause(ctx, every) != nil {
			return fmt.Errorf("waiting for %s: %w: %w", what, context.Cause(ctx), err)
		}
	}
}

// Busiest sorts times and returns the largest number of them within any one second.
func Busiest(times []time.Time) int {
	slices.SortFunc(times, time.Time.Compare)
	most, first := 0, 0
	for last := range times {
		for times[last].Sub(times[first]) >= time.Second {
			first++
		}
		most = max(most, last-first+1)
	}
	return most
}
