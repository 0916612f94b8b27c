package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/client"
	"github.com/portico-platform/portico/portal/status"
)

// defaultTimeout is how long commands wait without --timeout.
const defaultTimeout = 15 * time.Minute

// until is the state to wait for.
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
	cmd.Flags().DurationVar(timeout, "timeout", defaultTimeout, "the longest wait, a `duration` such as 30s, 10m or 2h")
}

func (a *app) waitCommand() *cobra.Command {
	var condition string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait KIND NAME", Short: "Wait until a resource is ready, or deleted", Args: words(1, 2),
		Long: `Wait prints the status whenever it changes. It exits with 0 when the resource is ready or deleted, with 3 when that takes
longer than --timeout, and with 5 when there is no such resource.`,
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
			a.sayReached(t, u)
			return nil
		},
	}
	cmd.Flags().StringVar(&condition, "for", untilReady.word, "`what` to wait for: ready or deleted")
	a.complete(cmd, "for", []string{untilReady.word, untilDeleted.word})
	a.waitFlags(cmd, nil, &timeout, "")
	return cmd
}

func (a *app) sayReached(t target, u until) {
	a.say("%s%s is %s.", refOf(t.kind, t.name), inWords(t.namespace), u.word)
}

// ready waits until the object is ready as it was just written, and prints that.
func (a *app) ready(ctx context.Context, t target, written *object, timeout time.Duration) error {
	_, err := a.awaitThis(ctx, t, written, untilReady, timeout)
	if err == nil {
		a.sayReached(t, untilReady)
	}
	return err
}

// await waits for the current object in Kubernetes; see awaitThis.
func (a *app) await(ctx context.Context, t target, u until, timeout time.Duration) (object, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	got, err := t.current(limited)
	switch {
	case u.gone && client.StatusOf(err) == http.StatusNotFound:
		return object{}, nil
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return object{}, (&waiting{target: t, until: u}).late(timeout)
	case err != nil:
		return object{}, err
	}
	return a.awaitThis(ctx, t, &got.Object, u, timeout)
}

// awaitThis waits until this object, not another one of its name, is ready in its current or a later version, or until
// it is gone. It returns its last version.
func (a *app) awaitThis(ctx context.Context, t target, from *object, u until, timeout time.Duration) (object, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	w := waiting{app: a, target: t, until: u, last: *from}
	for change, err := range t.objects().WatchOne(limited, t.name) {
		switch {
		case client.StatusOf(err) == http.StatusNotFound: // deleted while there was no watch
			err = w.left()
		case err == nil:
			err = w.take(limited, change)
		}
		if err != nil && limited.Err() == nil || w.done {
			return w.last, err
		}
	}
	if ctx.Err() != nil {
		return w.last, ctx.Err()
	}
	return w.last, w.late(timeout)
}

// waiting is the state of a wait.
type waiting struct {
	*app
	target
	until
	last object // the newest version that was seen
	said string
	done bool
}

func (w *waiting) take(ctx context.Context, change client.Change[object]) error {
	uid := string(w.last.GetUID())
	switch {
	case change.Left != nil && change.Left.Reason == "forbidden":
		return &forbiddenError{fmt.Sprintf("you no longer have access to %s%s, so that portico cannot see whether it "+
			"is %s: ask who manages access to it",
			refOf(w.kind, w.name), inWords(w.target.namespace), w.word)}
	case change.Left != nil && change.Left.UID == uid:
		return w.left()
	case change.Left != nil: // an earlier object of the name
		return nil
	case change.Object != nil:
		return w.look(ctx, change.Object)
	case len(change.Snapshot) > 0:
		return w.look(ctx, &change.Snapshot[0])
	}
	return w.left()
}

// left handles the object's deletion: the wait is done if it was for that, else it returns an error.
func (w *waiting) left() error {
	if w.gone {
		w.done = true
		return nil
	}
	return fmt.Errorf("%s%s cannot become %s: it was deleted in the meantime", refOf(w.kind, w.name),
		inWords(w.target.namespace), w.word)
}

// look checks a version of the object. A watch can begin with outdated state: an older version, or an earlier object of
// the name.
func (w *waiting) look(ctx context.Context, o *object) error {
	if o.GetUID() != w.last.GetUID() {
		now, err := w.current(ctx)
		switch {
		case client.StatusOf(err) == http.StatusNotFound, err == nil && now.Object.GetUID() != w.last.GetUID():
			return w.left()
		}
		return err
	}
	if o.GetGeneration() < w.last.GetGeneration() {
		return nil
	}
	w.last = *o
	state, why := status.PhaseIn(w.kind, o)
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

// late returns why the wait timed out.
func (w *waiting) late(timeout time.Duration) error {
	text := fmt.Sprintf("%s%s is not %s after %s", refOf(w.kind, w.name), inWords(w.target.namespace), w.word, timeout)
	if w.said != "" {
		text += fmt.Sprintf(" (%s)", strings.TrimSuffix(w.said, "."))
	}
	return &timeoutError{text + "; it goes on without you, look with portico describe"}
}
