package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// controlName returns the name of another owner's resource of a kind. Objects with the name theirs request it.
func controlName(k kind) string { return "theirs-" + strings.ToLower(k.name) }

// makeControl creates the resources of another owner, which the operator must not change.
func (w *world) makeControl(ctx context.Context) error {
	mine := map[string]string{"owner": "somebody else"}
	for _, k := range kinds {
		if k.id == "" {
			continue
		}
		if err := w.services[k.name].make(ctx, controlName(k), mine); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	if err := w.account.makeRecord(ctx); err != nil {
		return err
	}
	if err := w.awaitControl(ctx); err != nil {
		return err
	}
	all, err := inventory(ctx, w.services)
	if err != nil {
		return err
	}
	w.control = map[string]string{}
	for _, r := range all {
		w.control[r.String()] = r.config
	}
	return nil
}

// awaitControl waits until no resource is still creating or pending.
func (w *world) awaitControl(ctx context.Context) error {
	return w.Until(ctx, poll, "what is somebody else's to be made", func() error {
		all, err := inventory(ctx, w.services)
		if err == nil && slices.ContainsFunc(all, func(r resource) bool {
			return strings.Contains(r.config, `"creating"`) || strings.Contains(r.config, `"pending"`)
		}) {
			err = errors.New("some is still being made")
		}
		return err
	})
}
