package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

// action is an action that an annotation requests.
type action struct {
	verb, short, done string
	kind              string // the only kind it is for, "" for all
	annotation        string
	value             func(now string) any // nil removes the annotation
	idle              func(*object) string // why there is nothing to do, or ""; nil: there always is
}

func now(at string) any { return at }

var actions = []action{
	{verb: "reconcile", short: "Check and repair one resource now", done: "will be checked now", annotation: v1alpha1.AnnotationReconcileRequestedAt, value: now},
	{
		verb: "pause", short: "Stop Portico from changing one resource; deleting still works", done: "is paused",
		annotation: v1alpha1.AnnotationPaused, value: func(string) any { return "true" },
		idle: paused("true", "is paused already"),
	},
	{
		verb: "resume", short: "Let Portico manage a paused resource again", done: "is managed by Portico again",
		annotation: v1alpha1.AnnotationPaused, value: func(string) any { return nil },
		idle: paused("", "is not paused"),
	},
	{
		verb: "keep", short: "Cancel a deletion that has not started in AWS",
		done: "will be kept: Portico creates it again for what stays in AWS", annotation: v1alpha1.AnnotationKeep,
		value: func(string) any { return "true" }, idle: notDeleted,
	},
	{verb: "restart", short: "Replace the replicas of a web app one by one", done: "will be restarted", kind: catalog.AppKind, annotation: v1alpha1.AnnotationRestartRequestedAt, value: now},
}

// paused returns the idle function of an action for an annotation that already has this value; "" means no annotation.
func paused(is, why string) func(*object) string {
	return func(o *object) string {
		if o.GetAnnotations()[v1alpha1.AnnotationPaused] != is {
			return ""
		}
		return why
	}
}

func notDeleted(o *object) string {
	if o.GetDeletionTimestamp() != nil {
		return ""
	}
	return "is not being deleted"
}

func (a *app) actCommands() []*cobra.Command {
	var all []*cobra.Command
	for _, act := range actions {
		use, example := act.verb+" KIND NAME", "bucket reports"
		if act.kind != "" {
			use, example = act.verb+" NAME", "shop"
		}
		all = append(all, &cobra.Command{
			Use: use, Short: act.short, Args: words(1, 2), Example: "  portico " + act.verb + " " + example +
				" -n payments",
			ValidArgsFunction: a.completeFor(act.kind),
			RunE:              func(cmd *cobra.Command, args []string) error { return a.act(cmd.Context(), act, args) },
		})
	}
	return all
}

func (a *app) act(ctx context.Context, act action, args []string) error {
	t, err := a.targetOf(ctx, act.kind, args)
	if err != nil {
		return err
	}
	if k := t.kind; !k.Own() {
		return usagef("%s belongs to %s, which takes no such orders from Portico", refOf(k, t.name), k.Controller.Name)
	}
	if act.idle != nil {
		_, is, err := t.found(ctx)
		if err != nil {
			return err
		}
		if why := act.idle(is); why != "" {
			a.say("%s%s %s: nothing was changed.", refOf(t.kind, t.name), inWords(t.namespace), why)
			return nil
		}
	}
	at := a.clock.Now().UTC().Format(time.RFC3339Nano)
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{act.annotation: act.value(at)}}}
	// Any version: only the annotation is sent.
	changed, err := t.objects().Patch(ctx, t.name, patch, client.PatchOptions{IfMatch: "*"})
	if err != nil {
		return err
	}
	a.warn(changed.Warnings)
	a.say("%s%s %s.", refOf(t.kind, t.name), inWords(t.namespace), act.done)
	return nil
}

// targetOf returns the target of a command for one kind, which the arguments may leave out. kind "" means any kind.
func (a *app) targetOf(ctx context.Context, kind string, args []string) (target, error) {
	if args = slashed(args); kind != "" && len(args) == 1 {
		args = []string{kind, args[0]}
	}
	t, err := a.target(ctx, args)
	if err == nil && kind != "" && t.kind.Name != kind {
		return t, usagef("this is for %s only, not for %s", spoken.A(kind), spoken.A(t.kind.Name))
	}
	return t, err
}
