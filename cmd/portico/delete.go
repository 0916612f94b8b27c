package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/client"
)

func (a *app) deleteCommand() *cobra.Command {
	var yes, wait, dry bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "delete KIND NAME", Short: "Delete one object, after asking for its name", Args: words(1, 2),
		Long: `Delete says what will be lost and asks you to type the object's name. In scripts, where nobody can be asked, it needs --yes.
If the object changes after you were asked, nothing is deleted.`,
		Example:           "  portico delete bucket reports -n payments\n  portico delete bucket reports -n payments --yes --wait",
		ValidArgsFunction: a.completeObjects,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes && !dry && !a.asks {
				return usagef("nobody can be asked here whether you mean it: add --yes")
			}
			t, err := a.target(cmd.Context(), args)
			if err != nil {
				return err
			}
			if dry {
				return a.deleteDry(cmd.Context(), t)
			}
			was, err := a.delete(cmd.Context(), t, yes)
			if err != nil || !wait {
				return err
			}
			if _, err := a.awaitThis(cmd.Context(), t, was, untilDeleted, timeout); err != nil {
				return err
			}
			a.say("%s%s is deleted.", refOf(t.kind, t.name), inWords(t.namespace))
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be lost, and whether it may be deleted, but delete nothing")
	a.waitFlags(cmd, &wait, &timeout, "wait until it is gone")
	return cmd
}

// delete deletes the object that was shown, and no other of its name, and returns it.
func (a *app) delete(ctx context.Context, t target, yes bool) (*object, error) {
	got, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	if !yes {
		a.say("%s", a.loss(t, &got.Object))
		_, _ = fmt.Fprintf(a.err, "Type the name %s to delete it: ", clean(t.name))
		typed, err := bufio.NewReader(a.in).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading the name: %w", err)
		}
		if strings.TrimSpace(typed) != t.name {
			return nil, errors.New("that is not its name: nothing was deleted")
		}
	}
	left, err := t.objects().Delete(ctx, t.name, client.DeleteOptions{IfMatch: got.ETag})
	if err != nil {
		return nil, err
	}
	a.warn(left.Warnings)
	a.say("Deleting %s%s.", refOf(t.kind, t.name), inWords(t.namespace))
	return &got.Object, nil
}

func (a *app) deleteDry(ctx context.Context, t target) error {
	got, err := t.current(ctx)
	if err != nil {
		return err
	}
	if _, err := t.objects().Delete(ctx, t.name, client.DeleteOptions{IfMatch: got.ETag, DryRun: dryRun}); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, a.loss(t, &got.Object))
	return err
}

// loss says in words what deleting the object does.
func (a *app) loss(t target, o *object) string {
	policy, _, _ := unstructured.NestedString(o.Object, "spec", "deletionPolicy")
	d := t.kind.Deletion
	what := refOf(t.kind, t.name) + inWords(t.namespace)
	switch lossy, _, _ := unstructured.NestedBool(o.Object, "spec", d.Lossy); {
	case policy == "Retain":
		return what + " will be forgotten by Portico; what it stands for in AWS stays."
	case d.Effect == "" || (d.Lossy != "" && lossy):
		return strings.TrimSpace(what + " will be deleted. " + d.LossyEffect)
	}
	return strings.TrimSpace(what + " will be deleted. " + d.Effect)
}
