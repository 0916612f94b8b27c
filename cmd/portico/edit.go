package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

func (a *app) editCommand() *cobra.Command {
	return &cobra.Command{
		Use: "edit KIND NAME", Short: "Change a resource in your editor", Args: words(1, 2),
		Long: `Edit opens the YAML of the resource in $VISUAL or $EDITOR, and sends it when the editor ends. If the portal refuses it, the editor
opens again with the reason at the top of the file; save an unchanged file to give up. If somebody else changed the resource in
the meantime, nothing is overwritten, and your file is kept.`,
		Example: "  portico edit bucket reports -n payments", ValidArgsFunction: a.completeObjects,
		RunE: func(cmd *cobra.Command, args []string) error {
			editor := cmp.Or(a.env("VISUAL"), a.env("EDITOR"))
			if editor == "" {
				return usagef("with which editor? Set EDITOR, such as EDITOR=nano; or use portico get -o yaml and " +
					"portico apply -f")
			}
			t, err := a.target(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.change(cmd.Context(), t, editor)
		},
	}
}

func (a *app) change(ctx context.Context, t target, editor string) error {
	live, err := t.current(ctx)
	if err != nil {
		return err
	}
	text, err := catalog.ToYAML(&live.Object)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp("", "portico-*.yaml") // for its owner only
	if err != nil {
		return fmt.Errorf("making a file to edit: %w", err)
	}
	path := f.Name()
	if err := f.Close(); err != nil {
		return fmt.Errorf("making a file to edit: %w", err)
	}
	err = a.editing(ctx, t, editor, path, text, live.ETag)
	if kept, ok := errors.AsType[*keptError](err); ok {
		kept.path = path
		return err
	}
	return errors.Join(err, os.Remove(path))
}

// keptError is an error after which the user's file is kept.
type keptError struct {
	cause error
	path  string
}

func (e *keptError) Error() string {
	return fmt.Sprintf("%v (what you wrote is kept in %s)", e.cause, e.path)
}

func (e *keptError) Unwrap() error { return e.cause }

// editing opens the editor on the file until the portal accepts it, or the user changes nothing.
func (a *app) editing(ctx context.Context, t target, editor, path string, text []byte, etag string) error {
	before := text
	var complaint error
	for {
		if err := os.WriteFile(path, append(comments(complaint), text...), 0o600); err != nil {
			return fmt.Errorf("writing the file to edit: %w", err)
		}
		if err := a.edit(ctx, editor, path); err != nil {
			return &keptError{cause: fmt.Errorf("the editor %s failed: %w", editor, err)}
		}
		written, err := os.ReadFile(path) //nolint:gosec // our own file
		if err != nil {
			return fmt.Errorf("reading the file that was edited: %w", err)
		}
		next := withoutComments(written)
		switch {
		case bytes.Equal(next, before) && complaint == nil:
			a.say("Nothing has changed.")
			return nil
		case bytes.Equal(next, text) && complaint != nil:
			return &keptError{cause: complaint}
		}
		text = next
		if complaint, err = a.sendEdited(ctx, t, text, etag); err != nil {
			return &keptError{cause: err}
		}
		if complaint == nil {
			a.say("Changed %s%s.", refOf(t.kind, t.name), inWords(t.namespace))
			return nil
		}
	}
}

// sendEdited returns as complaint the errors that the user can fix in the file.
func (a *app) sendEdited(ctx context.Context, t target, text []byte, etag string) (complaint, err error) {
	obj, err := t.kind.ParseYAML(text)
	if err != nil {
		return err, nil
	}
	_, err = a.put(ctx, t, obj, etag, false)
	switch client.StatusOf(err) {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return err, nil
	case http.StatusPreconditionFailed:
		return nil, fmt.Errorf("somebody else changed it in the meantime: %w", err)
	}
	return nil, err
}

const mark = "#portico: "

// comments writes the error as comments for the top of the file, nil for none.
func comments(err error) []byte {
	if err == nil {
		return nil
	}
	var b bytes.Buffer
	complain(&b, err)
	var out []byte
	for line := range strings.Lines(b.String()) {
		out = append(out, mark+strings.TrimPrefix(line, "portico: ")...)
	}
	return out
}

func withoutComments(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte(mark)) {
			out = append(out, line...)
		}
	}
	return out
}
