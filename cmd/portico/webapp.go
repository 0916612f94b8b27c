package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

func (a *app) scaleCommand() *cobra.Command {
	var wait bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "scale NAME NUMBER", Short: "Set how many replicas of a web app run", Args: words(2, 2),
		Long: `Scale changes spec.replicas of a web app, and nothing else. 0 stops the web app without deleting it. A web app with
autoscaling decides by itself how many replicas run: change its autoscaling with portico edit.`,
		Example:           "  portico scale shop 3 -n payments\n  portico scale shop 0\n  portico scale shop 3 --wait",
		ValidArgsFunction: a.completeFor(catalog.AppKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.ParseInt(args[1], 10, 32)
			if err != nil || n < 0 {
				return usagef("%q is not a number of replicas: give a whole number, such as 3", args[1])
			}
			t, changed, err := a.scale(cmd.Context(), args[0], n)
			if err != nil || !wait {
				return err
			}
			return a.ready(cmd.Context(), t, changed, timeout)
		},
	}
	a.waitFlags(cmd, &wait, &timeout, "wait until all replicas run")
	return cmd
}

// scale sets the number of Pods, and returns the resulting web app.
func (a *app) scale(ctx context.Context, name string, n int64) (target, *object, error) {
	t, app, err := a.webApp(ctx, name)
	if err != nil {
		return t, nil, err
	}
	if s := app.Spec.Autoscaling; s != nil {
		return t, nil, hinted(fmt.Errorf("%s%s scales by itself, from %d to %d replicas: nothing was changed",
			refOf(t.kind, t.name), inWords(t.namespace), max(s.Min, 1), s.Max),
			"Change spec.autoscaling with portico edit web-app "+clean(t.name)+".")
	}
	changed, err := t.objects().Patch(ctx, t.name, map[string]any{"spec": map[string]any{"replicas": n}},
		client.PatchOptions{IfMatch: "*"})
	if err != nil {
		return t, nil, err
	}
	a.warn(changed.Warnings)
	before := int64(1)
	if app.Spec.Replicas != nil {
		before = int64(*app.Spec.Replicas)
	}
	a.say("%s%s: replicas %d → %d.", refOf(t.kind, t.name), inWords(t.namespace), before, n)
	return t, &changed.Object, nil
}

func (a *app) rollbackCommand() *cobra.Command {
	var revision int64
	cmd := &cobra.Command{
		Use: "rollback NAME", Short: "Return a web app to the image of an earlier version", Args: words(1, 1),
		Long: `Rollback sets spec.image of a web app to that of an earlier version: the last one with another image, or the one that
--to-revision names. portico describe web-app NAME lists the versions. Everything else in spec stays as it is. A version
that never became available is refused; to try its image again, set spec.image.`,
		Example:           "  portico rollback shop -n payments\n  portico rollback shop --to-revision 4",
		ValidArgsFunction: a.completeFor(catalog.AppKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("to-revision") && revision < 1 {
				return usagef("--to-revision %d: versions are numbered from 1", revision)
			}
			return a.rollback(cmd.Context(), args[0], revision)
		},
	}
	cmd.Flags().Int64Var(&revision, "to-revision", 0, "`number` of the version, as portico describe lists it; "+
		"default: the last one with another image")
	_ = cmd.RegisterFlagCompletionFunc("to-revision", a.completeRevisions) // the flag is there
	return cmd
}

// rollback requests the image of an earlier version; revision 0 is the last one with another image.
func (a *app) rollback(ctx context.Context, name string, revision int64) error {
	t, app, err := a.webApp(ctx, name)
	if err != nil {
		return err
	}
	version, err := earlier(app, revision)
	if err != nil {
		return hinted(fmt.Errorf("%s%s: %w: nothing was changed", refOf(t.kind, t.name), inWords(t.namespace), err),
			"See its versions with portico describe web-app "+clean(t.name)+".")
	}
	number := strconv.FormatInt(version.Revision, 10)
	patch := map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{v1alpha1.AnnotationRollback: number},
	}}
	changed, err := t.objects().Patch(ctx, t.name, patch, client.PatchOptions{IfMatch: "*"})
	if err != nil {
		return err
	}
	a.warn(changed.Warnings)
	a.say("%s%s returns to version %s, image %s.", refOf(t.kind, t.name), inWords(t.namespace), number,
		clean(version.Image))
	return nil
}

// earlier finds the version to return to.
func earlier(app *v1alpha1.WebApp, revision int64) (v1alpha1.WebAppRevision, error) {
	i := slices.IndexFunc(app.Status.Revisions, func(r v1alpha1.WebAppRevision) bool {
		return r.Revision == revision || revision == 0 && r.Image != app.Spec.Image && !r.NeverAvailable
	})
	switch {
	case i < 0 && revision == 0:
		return v1alpha1.WebAppRevision{}, errors.New("there is no earlier version with another image that has served")
	case i < 0:
		return v1alpha1.WebAppRevision{}, fmt.Errorf("the cluster does not keep a version %d", revision)
	case app.Status.Revisions[i].Image == app.Spec.Image:
		return v1alpha1.WebAppRevision{}, fmt.Errorf("version %d has the image that it uses already", revision)
	case app.Status.NeverServed(app.Status.Revisions[i].Image):
		return v1alpha1.WebAppRevision{}, fmt.Errorf("version %d never served: none of its replicas became available",
			revision)
	}
	return app.Status.Revisions[i], nil
}

// webApp reads a web app by its name.
func (a *app) webApp(ctx context.Context, name string) (target, *v1alpha1.WebApp, error) {
	t, err := a.targetOf(ctx, catalog.AppKind, []string{name})
	if err != nil {
		return t, nil, err
	}
	got, err := t.current(ctx)
	if err != nil {
		return t, nil, err
	}
	app, err := webAppOf(&got.Object)
	return t, app, err
}

func webAppOf(o *object) (*v1alpha1.WebApp, error) {
	app := &v1alpha1.WebApp{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, app); err != nil {
		return nil, fmt.Errorf("reading the web app %s: %w", clean(o.GetName()), err)
	}
	return app, nil
}

// completeRevisions offers the versions that a web app can return to.
func (a *app) completeRevisions(cmd *cobra.Command, args []string, so string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, noFiles
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
	defer cancel()
	_, app, err := a.webApp(ctx, args[0])
	if err != nil {
		return nil, noFiles
	}
	var words []string
	for _, r := range app.Status.Revisions {
		if r.Image != app.Spec.Image && !app.Status.NeverServed(r.Image) {
			words = append(words, cobra.CompletionWithDesc(strconv.FormatInt(r.Revision, 10), r.Image))
		}
	}
	return startingWith(words, so), noFiles
}
