package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
	"github.com/portico-platform/portico/portal/status"
)

func (a *app) deleteCommand() *cobra.Command {
	var how deletion
	var wait, dry bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "delete KIND NAME", Short: "Delete one resource, after asking for its name", Args: words(1, 2),
		Long: `Delete says what will be lost and asks you to type the name of the resource. In scripts, which cannot answer, it needs --confirm
with the name, or --yes, which does not delete what is protected. If the resource changes after you were asked, nothing is deleted.
A resource in use is not deleted either: first delete what uses it, or remove it from the spec of what uses it.`,
		Example: "  portico delete bucket reports -n payments\n  portico delete bucket reports -n payments " +
			"--confirm reports --wait",
		ValidArgsFunction: a.completeObjects,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !how.decided() && !dry && !a.asks {
				return usagef("portico cannot ask here whether you mean it: add --confirm with the name, or --yes")
			}
			t, err := a.target(cmd.Context(), args)
			if err != nil {
				return err
			}
			if how.name != "" && how.name != t.name {
				return usagef("--confirm says %s, and the resource is called %s: nothing was deleted", how.name, t.name)
			}
			if dry {
				return a.deleteDry(cmd.Context(), t)
			}
			was, err := a.delete(cmd.Context(), t, how)
			if err != nil || !wait {
				return err
			}
			if _, err := a.awaitThis(cmd.Context(), t, was, untilDeleted, timeout); err != nil {
				return err
			}
			a.sayReached(t, untilDeleted)
			return nil
		},
	}
	cmd.Flags().BoolVar(&how.yes, "yes", false, "do not ask; what is protected is not deleted")
	cmd.Flags().StringVar(&how.name, "confirm", "", "confirm the deletion by the name of the resource, and do not ask")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be lost, and whether it can be deleted, but delete "+
		"nothing")
	a.waitFlags(cmd, &wait, &timeout, "wait until it is gone")
	return cmd
}

// deletion is the decision about a deletion.
type deletion struct {
	yes  bool
	name string // that confirms it
}

func (d deletion) decided() bool { return d.yes || d.name != "" }

// delete deletes the object that was shown, and no other of its name, and returns it.
func (a *app) delete(ctx context.Context, t target, how deletion) (*object, error) {
	got, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	if !how.decided() {
		if how.name, err = a.askName(ctx, t, &got.Object); err != nil {
			return nil, err
		}
	}
	left, err := t.objects().Delete(ctx, t.name, client.DeleteOptions{IfMatch: got.ETag, Confirm: how.name})
	if err != nil {
		return nil, a.explainRefusal(t, err)
	}
	a.warn(left.Warnings)
	a.say("Deleting %s%s.", refOf(t.kind, t.name), inWords(t.namespace))
	return &got.Object, nil
}

// askName describes a deletion, asks for the object's name and returns it. It does not ask if the object is in use.
func (a *app) askName(ctx context.Context, t target, o *object) (string, error) {
	if users := status.UsersOf(o); users != "" {
		return "", &forbiddenError{
			fmt.Sprintf("%s%s is in use by %s: first delete what uses it, or remove %s from its spec. Nothing was "+
				"deleted",
				refOf(t.kind, t.name), inWords(t.namespace), users, t.name),
		}
	}
	a.say("%s", a.loss(t, o))
	typed, err := a.line(ctx, fmt.Sprintf("Type the name %s to delete it: ", clean(t.name)))
	if err == nil && typed != t.name {
		err = errors.New("that is not its name: nothing was deleted")
	}
	return typed, err
}

// explainRefusal explains how to confirm a deletion, if that was missing.
func (a *app) explainRefusal(t target, err error) error {
	if client.StatusOf(err) == http.StatusForbidden && strings.Contains(err.Error(), v1alpha1.AnnotationConfirmDeletion+
		"=") {
		return &forbiddenError{fmt.Sprintf("%s%s is deleted only with a confirmation: add --confirm %s. Nothing was "+
			"deleted",
			refOf(t.kind, t.name), inWords(t.namespace), t.name)}
	}
	return err
}

func (a *app) deleteDry(ctx context.Context, t target) error {
	got, err := t.current(ctx)
	if err != nil {
		return err
	}
	if _, err := t.objects().Delete(
		ctx, t.name, client.DeleteOptions{IfMatch: got.ETag, DryRun: dryRun, Confirm: t.name}); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, a.loss(t, &got.Object))
	return err
}

// loss describes what deleting the object does.
func (a *app) loss(t target, o *object) string {
	policy := v1alpha1.DeletionPolicy(catalog.TextAt(o, "spec", "deletionPolicy"))
	d := t.kind.Deletion
	what := refOf(t.kind, t.name) + inWords(t.namespace)
	switch lossy, _, _ := unstructured.NestedBool(o.Object, "spec", d.Lossy); {
	case catalog.TextAt(o, "spec", "managementPolicy") == string(v1alpha1.ManagementObserve):
		return what + " will be forgotten by Portico, which only observes it; nothing changes in AWS."
	case policy == v1alpha1.DeletionRetain:
		return what + " will be forgotten by Portico; what it stands for in AWS stays."
	case policy == v1alpha1.DeletionOrphan:
		return what + " will be forgotten by Portico; what it stands for in AWS stays, without Portico's tags."
	case policy == v1alpha1.DeletionStop:
		return what + " will be forgotten by Portico; what it stands for in AWS is stopped and stays."
	case d.Effect == "" || (d.Lossy != "" && lossy):
		return strings.TrimSpace(what + " will be deleted. " + d.LossyEffect)
	}
	return strings.TrimSpace(what + " will be deleted. " + t.kind.EffectOn(o))
}
