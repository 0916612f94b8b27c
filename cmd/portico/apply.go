package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

func (a *app) applyCommand() *cobra.Command {
	var files []string
	var dry bool
	cmd := &cobra.Command{
		Use: "apply -f FILE", Short: "Create or change objects as files say", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Apply makes objects of files stand there as the files say: it creates those that are not there, and of the others makes
spec what the file has. Labels and annotations are added or changed, not removed. A file may have several objects,
separated by lines of ---.`,
		Example: "  portico apply -f bucket.yaml -f queue.yaml -n payments\n  cat all.yaml | portico apply -f - --dry-run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(files) == 0 {
				return usagef("which files? Name them with -f")
			}
			return a.apply(cmd.Context(), files, dry)
		},
	}
	cmd.Flags().StringArrayVarP(&files, "file", "f", nil, "`path` of a YAML file; - is standard input")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "check everything, but change nothing")
	return cmd
}

// apply reads everything before it changes anything.
func (a *app) apply(ctx context.Context, files []string, dry bool) error {
	c, err := a.api()
	if err != nil {
		return err
	}
	type change struct {
		target
		want *object
	}
	var all []change
	for _, path := range files {
		docs, err := a.readFile(path)
		if err != nil {
			return err
		}
		for _, d := range docs {
			want, err := d.object(path)
			if err != nil {
				return err
			}
			t := target{kind: d.kind, namespace: want.GetNamespace(), name: want.GetName(), api: c}
			if err := a.place(ctx, &t); err != nil {
				return err
			}
			all = append(all, change{t, want})
		}
	}
	for _, ch := range all {
		if err := a.applyOne(ctx, ch.target, ch.want, dry); err != nil {
			return fmt.Errorf("%s%s: %w", refOf(ch.kind, ch.name), inWords(ch.namespace), err)
		}
	}
	return nil
}

func (a *app) applyOne(ctx context.Context, t target, want *object, dry bool) error {
	live, err := t.objects().Get(ctx, t.name)
	switch {
	case client.StatusOf(err) == http.StatusNotFound:
		options := client.CreateOptions{}
		if dry {
			options.DryRun = dryRun
		}
		made, err := t.objects().Create(ctx, want, options)
		if err != nil {
			return err
		}
		a.warn(made.Warnings)
		return a.did(t, "created", dry)
	case err != nil:
		return err
	}
	next := live.Object.DeepCopy()
	next.Object["spec"] = want.Object["spec"]
	next.SetLabels(merged(next.GetLabels(), want.GetLabels()))
	next.SetAnnotations(merged(next.GetAnnotations(), want.GetAnnotations()))
	changed, err := a.put(ctx, t, next, live.ETag, dry)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(catalog.Clean(&changed.Object).Object, catalog.Clean(&live.Object).Object) {
		return a.did(t, "unchanged", dry)
	}
	return a.did(t, "changed", dry)
}

func (a *app) put(ctx context.Context, t target, next *object, etag string, dry bool) (*client.Result[object], error) {
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

// document is one of a file, whose kind may not be said.
type document struct {
	kind catalog.Kind
	text []byte
}

// readFile splits a file into its documents; empty ones are left out.
func (a *app) readFile(path string) ([]document, error) {
	b, err := a.read(path)
	if err != nil {
		return nil, err
	}
	var all []document
	reader := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(b)))
	buffer := make([]byte, maxFile+1)
	for {
		n, err := reader.Read(buffer)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		d := document{text: bytes.Clone(buffer[:n])}
		var head struct {
			Kind string `json:"kind"`
		}
		if err := sigsyaml.Unmarshal(d.text, &head); err != nil {
			return nil, usagef("%s: this is not valid YAML: %v", path, err)
		}
		if head.Kind != "" {
			k, ok := a.kinds.ByName(head.Kind)
			if !ok {
				return nil, usagef("%s: there is no kind %q; see portico kinds", path, head.Kind)
			}
			d.kind = k
		}
		if len(bytes.TrimSpace(d.text)) > 0 {
			all = append(all, d)
		}
	}
}

// object is the document as one, which says its kind and its name.
func (d document) object(path string) (*object, error) {
	if d.kind.Name == "" {
		return nil, usagef("%s: an object does not say its kind: add apiVersion and kind", path)
	}
	obj, err := d.kind.ParseYAML(d.text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if obj.GetName() == "" {
		return nil, usagef("%s: a %s has no metadata.name", path, d.kind.Name)
	}
	return obj, nil
}
