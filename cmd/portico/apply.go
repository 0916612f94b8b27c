package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

func (a *app) applyCommand() *cobra.Command {
	var files []string
	f := applyFlags{}
	cmd := &cobra.Command{
		Use: "apply -f FILE", Short: "Create or change the resources in files", Args: words(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Apply creates the resources in the files that do not exist yet, and gives the others the spec that the file has. It adds and changes
labels and annotations, and removes none. It does not overwrite what somebody else changes at the same time.

A file has YAML or JSON: one resource, several that are separated by lines of ---, or a List, such as portico get -o yaml
prints. Of a folder, apply reads the files that end in .yaml, .yml or .json, but no folders below it.`,
		Example: `  portico apply -f bucket.yaml -f queue.yaml -n payments
  portico apply -f platform/ --dry-run
  portico apply -f platform/ --wait --timeout 30m
  portico get bucket reports -n payments -o yaml | portico apply -f -`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(files) == 0 {
				return usagef("which files? Name them with -f")
			}
			if f.dry && f.wait {
				return usagef("--dry-run changes nothing, so that there is nothing to wait for: leave out --wait")
			}
			return a.apply(cmd.Context(), files, f)
		},
	}
	cmd.Flags().StringArrayVarP(&files, "file", "f", nil, "`path` of a file or folder; - is standard input")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "check everything, but change nothing")
	a.waitFlags(cmd, &f.wait, &f.timeout, "wait until all of it is Ready; --timeout counts for all together")
	return cmd
}

type applyFlags struct {
	dry, wait bool
	timeout   time.Duration
}

// apply reads everything before it changes anything, and changes everything before it waits for anything.
func (a *app) apply(ctx context.Context, files []string, f applyFlags) error {
	c, err := a.api()
	if err != nil {
		return err
	}
	all, err := a.changes(ctx, c, files)
	if err != nil {
		return err
	}
	for i, ch := range all {
		if all[i].written, err = a.applyOne(ctx, ch.target, ch.want, f.dry); err != nil {
			return fmt.Errorf("%s%s: %w", refOf(ch.kind, ch.name), inWords(ch.namespace), err)
		}
	}
	end := a.clock.Now().Add(f.timeout)
	for _, ch := range all {
		if !f.wait {
			break
		}
		if err := a.ready(ctx, ch.target, ch.written, max(end.Sub(a.clock.Now()), time.Second).Round(
			time.Second)); err != nil {
			return err
		}
	}
	return nil
}

// wanted is an object from a file.
type wanted struct {
	target
	want    *object
	written *object // as the API returned it
}

func (a *app) changes(ctx context.Context, c *client.Client, files []string) ([]wanted, error) {
	var all []wanted
	for _, path := range files {
		docs, err := a.readFiles(ctx, path)
		if err != nil {
			return nil, err
		}
		if len(docs) == 0 {
			return nil, usagef("-f: there are no resources in %s", path)
		}
		for _, d := range docs {
			want, err := d.object()
			if err != nil {
				return nil, err
			}
			t := target{kind: d.kind, namespace: want.GetNamespace(), name: want.GetName(), api: c}
			if err := a.place(ctx, &t); err != nil {
				return nil, err
			}
			all = append(all, wanted{target: t, want: want})
		}
	}
	return all, nil
}

// applyOne creates or changes one object, and returns the result.
func (a *app) applyOne(ctx context.Context, t target, want *object, dry bool) (*object, error) {
	live, err := t.current(ctx)
	switch {
	case client.StatusOf(err) == http.StatusNotFound:
		options := client.CreateOptions{}
		if dry {
			options.DryRun = dryRun
		}
		made, err := t.objects().Create(ctx, want, options)
		if err != nil {
			return nil, err
		}
		a.warn(made.Warnings)
		return &made.Object, a.did(t, "created", dry)
	case err != nil:
		return nil, err
	}
	changed, err := a.put(ctx, t, withWanted(&live.Object, want), live.ETag, dry)
	if client.StatusOf(err) == http.StatusPreconditionFailed {
		changed, live, err = a.putAgain(ctx, t, live, want, dry)
	}
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(catalog.Clean(&changed.Object).Object, catalog.Clean(&live.Object).Object) {
		return &changed.Object, a.did(t, "unchanged", dry)
	}
	return &changed.Object, a.did(t, "changed", dry)
}

// withWanted returns live with the spec of want. Labels and annotations of both are kept; want's win.
func withWanted(live, want *object) *object {
	next := live.DeepCopy()
	next.Object["spec"] = want.Object["spec"]
	next.SetLabels(merged(next.GetLabels(), want.GetLabels()))
	next.SetAnnotations(merged(next.GetAnnotations(), want.GetAnnotations()))
	return next
}

// putAgain writes an object that somebody else changed since it was read, unless that would undo their change.
func (a *app) putAgain(ctx context.Context, t target, before *result, want *object, dry bool) (
	changed, now *result, err error,
) {
	now, err = t.current(ctx)
	switch {
	case client.StatusOf(err) == http.StatusNotFound || err == nil && now.Object.GetUID() != before.Object.GetUID():
		return nil, nil, errors.New("somebody else deleted it in the meantime: nothing was overwritten; apply again " +
			"if it is still wanted")
	case err != nil:
		return nil, nil, err
	}
	next := withWanted(&now.Object, want)
	var lost []string
	for _, d := range catalog.Differences(&before.Object, &now.Object, next) {
		if d.ChangedByThem() && !reflect.DeepEqual(d.Theirs, d.Mine) {
			lost = append(lost, d.At())
		}
	}
	if len(lost) > 0 {
		return nil, nil, fmt.Errorf("somebody else changed %s in the meantime, and the file says otherwise: nothing "+
			"was overwritten; compare with portico get -o yaml, and apply again when the file is right", andList(lost))
	}
	changed, err = a.put(ctx, t, next, now.ETag, dry)
	if client.StatusOf(err) == http.StatusPreconditionFailed {
		err = errors.New("somebody else keeps changing it: nothing was overwritten; apply again later")
	}
	return changed, now, err
}

func (a *app) put(ctx context.Context, t target, next *object, etag string, dry bool) (*result, error) {
	options := client.PutOptions{IfMatch: etag}
	if dry {
		options.DryRun = dryRun
	}
	changed, err := t.objects().Put(ctx, t.name, next, options)
	if err == nil {
		a.warn(changed.Warnings)
	}
	return changed, err
}

func merged(live, want map[string]string) map[string]string {
	out := maps.Clone(live)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, want)
	if len(out) == 0 {
		return nil
	}
	return out
}

func (a *app) did(t target, what string, dry bool) error {
	if dry {
		what += " (dry run)"
	}
	_, err := fmt.Fprintf(a.out, "%s%s %s\n", refOf(t.kind, t.name), inWords(t.namespace), what)
	return err
}
