package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/portal/client"
	"github.com/portico-platform/portico/portal/phase"
)

const (
	// patience is how long is waited if nobody says.
	patience = 15 * time.Minute
)

// until is what an object is waited for to become.
type until struct {
	word string
	gone bool
}

var (
	untilReady   = until{word: "ready"}
	untilDeleted = until{word: "deleted", gone: true}
)

// waitFlags adds --timeout, and --wait if wait is not nil.
func (a *app) waitFlags(cmd *cobra.Command, wait *bool, timeout *time.Duration, help string) {
	if wait != nil {
		cmd.Flags().BoolVar(wait, "wait", false, help)
	}
	cmd.Flags().DurationVar(timeout, "timeout", patience, "how `long` to wait")
}

func (a *app) waitCommand() *cobra.Command {
	var condition string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait KIND NAME", Short: "Wait until an object is ready, or deleted", Args: cobra.RangeArgs(1, 2),
		Long: `Wait says on the way what is in the way. It exits with 0 when it is done, with 3 when that took too long, and with 5 when
there is no such object to become ready.`,
		Example: `  portico wait bucket reports -n payments
  portico wait database orders -n payments --for deleted --timeout 30m`,
		ValidArgsFunction: a.completeObjects,
		RunE: func(cmd *cobra.Command, args []string) error {
			u := untilReady
			switch condition {
			case untilReady.word:
			case untilDeleted.word:
				u = untilDeleted
			default:
				return usagef("--for %q: want ready or deleted", condition)
			}
			t, err := a.target(cmd.Context(), args)
			if err != nil {
				return err
			}
			if _, err := a.await(cmd.Context(), t, u, timeout); err != nil {
				return err
			}
			a.say("%s%s is %s.", refOf(t.kind, t.name), inWords(t.namespace), u.word)
			return nil
		},
	}
	cmd.Flags().StringVar(&condition, "for", untilReady.word, "`what` to wait for: ready or deleted")
	a.complete(cmd, "for", []string{untilReady.word, untilDeleted.word})
	a.waitFlags(cmd, nil, &timeout, "")
	return cmd
}

// await returns the object as it was at the end, empty if it is gone.
func (a *app) await(ctx context.Context, t target, u until, timeout time.Duration) (object, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	w := waiting{app: a, target: t, until: u}
	got, err := t.objects().Get(limited, t.name)
	switch {
	case u.gone && client.StatusOf(err) == http.StatusNotFound:
		return w.last, nil
	case err == nil:
		w.last = got.Object
	case limited.Err() == nil:
		return w.last, err
	}
	for change, err := range t.objects().WatchOne(limited, t.name) {
		if u.gone && client.StatusOf(err) == http.StatusNotFound { // it went before the watch began, or while it was broken
			return w.last, nil
		}
		if err == nil {
			err = w.take(change)
		}
		if err != nil || w.done {
			return w.last, err
		}
	}
	if ctx.Err() != nil {
		return w.last, ctx.Err()
	}
	return w.last, w.late(timeout)
}

// waiting is what is known while somebody waits.
type waiting struct {
	*app
	target
	until
	last object
	said string
	done bool
}

func (w *waiting) take(change client.Change[object]) error {
	o := change.Object
	switch {
	case len(change.Snapshot) > 0:
		o = &change.Snapshot[0]
	case o == nil && w.gone:
		w.done = true
		return nil
	case o == nil:
		return fmt.Errorf("%s%s cannot become %s: it was deleted in the meantime", refOf(w.kind, w.name), inWords(w.target.namespace), w.word)
	}
	w.last = *o
	state, why := phase.Of(o)
	w.done = !w.gone && state == phase.Ready
	line := string(state)
	if why != "" {
		line += ": " + why
	}
	if line != w.said {
		w.say("%s", clean(line))
	}
	w.said = line
	return nil
}

// late says what is in the way of what did not happen in time.
func (w *waiting) late(timeout time.Duration) error {
	text := fmt.Sprintf("%s%s is not %s after %s", refOf(w.kind, w.name), inWords(w.target.namespace), w.word, timeout)
	if w.said != "" {
		text += fmt.Sprintf(" (%s)", strings.TrimSuffix(w.said, "."))
	}
	return &timeoutError{text + "; it goes on without you, look with portico describe"}
}
