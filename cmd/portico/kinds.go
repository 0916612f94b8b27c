package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
	"github.com/portico-platform/portico/portal/humanize"
)

// kindNamed finds a kind by any of its names: S3Bucket, s3buckets, bucket, a short name or the title; one of others
// also by its plural or its kind with its group.
func (a *app) kindNamed(ctx context.Context, name string) (catalog.Kind, error) {
	k, err := a.outline(ctx, name)
	if err != nil {
		return k, err
	}
	return a.whole(ctx, k)
}

// outline finds a kind as kindNamed does, without its fields, which take one more request.
func (a *app) outline(ctx context.Context, name string) (catalog.Kind, error) {
	if err := a.load(ctx); err != nil {
		return catalog.Kind{}, err
	}
	wanted := squeezed(name)
	var found catalog.Catalog
	for _, k := range a.kinds {
		if slices.Contains(fullNames(k), wanted) {
			return k, nil
		}
		if slices.Contains(names(k), wanted) {
			found = append(found, k)
		}
	}
	if i := slices.IndexFunc(found, catalog.Kind.Own); i >= 0 {
		return found[i], nil
	}
	switch len(found) {
	case 0:
		return catalog.Kind{}, a.noKind(name, wanted)
	case 1:
		return found[0], nil
	}
	var full []string
	for _, k := range found {
		full = append(full, k.Plural)
	}
	return catalog.Kind{}, usagef("%q names several kinds: say which of %s", name, orList(full))
}

// noKind returns the error about a name that no kind has, with those that it may mean.
func (a *app) noKind(name, wanted string) error {
	every := &cobra.Command{Use: "kinds"} // cobra suggests corrections of mistyped words
	every.SuggestionsMinimumDistance = 3
	for _, k := range a.kinds {
		every.AddCommand(&cobra.Command{Use: k.Word(), SuggestFor: names(k), Run: func(*cobra.Command, []string) {}})
	}
	near := every.SuggestionsFor(wanted)
	for _, k := range a.kinds { // a part of its name matches, such as providers
		if strings.Contains(squeezed(k.Name), strings.TrimSuffix(wanted, "s")) && !slices.Contains(near, k.Word()) {
			near = append(near, k.Word())
		}
	}
	if len(near) > 0 {
		return usagef("there is no kind %q; did you mean %s?", name, orList(near))
	}
	return usagef("there is no kind %q; see portico kinds", name)
}

// fullNames returns the names, squeezed, that no two kinds share.
func fullNames(k catalog.Kind) []string { return []string{squeezed(k.Plural), squeezed(k.ID())} }

// names returns all names of a kind, squeezed. A requestable kind can also be called by the last word of its title:
// queue for a message queue.
func names(k catalog.Kind) []string {
	title := squeezed(k.Title)
	all := []string{squeezed(k.Name), k.Plural, title, title + "s"}
	if last := squeezed(k.Title[strings.LastIndexByte(k.Title, ' ')+1:]); k.KeptBy == "" {
		all = append(all, last, last+"s")
	}
	return append(all, k.ShortNames...)
}

// squeezed returns a name in lower case without spaces and hyphens.
func squeezed(name string) string {
	return strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(name))
}

func wire(k catalog.Kind) client.Kind {
	return client.Kind{Name: k.Name, Plural: k.Plural, Namespaced: k.Namespaced, ReadOnly: !k.Written()}
}

// refOf names an object for people: bucket reports.
func refOf(k catalog.Kind, name string) string { return k.Noun() + " " + clean(name) }

// target is one object that the command line names.
type target struct {
	kind      catalog.Kind
	namespace string
	name      string
	api       *client.Client
}

func (t target) objects() objects { return t.api.Of(wire(t.kind), t.namespace) }

// current returns the object from Kubernetes, past the portal's cache, which may not have a recent write yet.
func (t target) current(ctx context.Context) (*result, error) {
	return t.objects().Get(ctx, t.name, client.GetOptions{CacheControl: "no-cache"})
}

// found returns the target with its object as Kubernetes has it now.
func (t target) found(ctx context.Context) (target, *object, error) {
	got, err := t.current(ctx)
	if err != nil {
		return t, nil, err
	}
	return t, &got.Object, nil
}

// target parses KIND NAME and KIND/NAME.
func (a *app) target(ctx context.Context, args []string) (target, error) {
	args = slashed(args)
	if len(args) != 2 {
		return target{}, usagef("name the kind and the resource, such as bucket reports")
	}
	k, err := a.kindNamed(ctx, args[0])
	if err != nil {
		return target{}, err
	}
	return a.targetNamed(ctx, k, args[1])
}

// targetNamed returns the object of that name, in the namespace of the command line.
func (a *app) targetNamed(ctx context.Context, k catalog.Kind, name string) (target, error) {
	c, err := a.api()
	if err != nil {
		return target{}, err
	}
	t := target{kind: k, name: name, api: c}
	if t.name == "" || strings.Contains(t.name, "/") {
		return t, usagef("%q is not the name of a resource", t.name)
	}
	if k.Namespaced {
		t.namespace, err = a.inNamespace(ctx, c)
	}
	return t, err
}

func slashed(args []string) []string {
	if len(args) == 1 {
		if kind, name, ok := strings.Cut(args[0], "/"); ok {
			return []string{kind, name}
		}
	}
	return args
}

func (a *app) kindsCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "kinds [KIND]", Short: "List what can be requested, or the fields of one kind",
		Example: "  portico kinds\n  portico kinds database", Args: words(0, 1), ValidArgsFunction: a.completeKinds,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				k, err := a.kindNamed(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if format != "table" {
					return usagef("the fields of a kind are a table: leave out -o %s. The REST API has them as a "+
						"schema, at /api/v1/kinds/%s", format, k.Plural)
				}
				return a.fields(k)
			}
			return a.listKinds(cmd.Context(), format)
		},
	}
	a.outputFlag(cmd, &format, plainFormats)
	return cmd
}

func (a *app) listKinds(ctx context.Context, format string) error {
	c, err := a.api()
	if err != nil {
		return err
	}
	offered, err := c.ListCatalog(
		ctx, client.ListCatalogOptions{Namespace: cmp.Or(a.namespace, a.env("PORTICO_NAMESPACE"))})
	if err != nil {
		return err
	}
	if format != "table" {
		return a.encode(format, offered)
	}
	t := a.table("NAME", "KIND", "SHORT", "YOU CAN", "WHAT IT IS")
	for _, item := range offered.Items {
		may := ""
		if item.CanCreate != nil {
			may = map[bool]string{true: "request it", false: "not request it"}[*item.CanCreate]
		}
		t.add(spoken.Lower(item.Title), item.Kind, strings.Join(item.ShortNames, ","), may, firstSentence(item.Help))
	}
	return t.write()
}

func firstSentence(text string) string {
	first, _ := humanize.FirstSentence(text)
	return strings.TrimSuffix(first, ".")
}

// fields prints what --set accepts.
func (a *app) fields(k catalog.Kind) error {
	if _, err := fmt.Fprintf(a.out, "%s (%s): %s\n\n", k.Title, k.Name, k.Help); err != nil {
		return err
	}
	t := a.table("FIELD", "TYPE", "DEFAULT", "WHAT IT IS")
	for _, f := range k.Fields() {
		addField(t, f, true)
	}
	return t.write()
}

// addField adds a field and its subfields. Required ones are marked if their parents are required too.
func addField(t *table, f catalog.Field, required bool) {
	path := strings.TrimPrefix(f.Path, "spec.")
	if required = required && f.Required; required {
		path += "*"
	}
	kind := string(f.Type)
	switch {
	case f.IsRef():
		t.add(path, "name", f.Default, firstSentence(f.Help))
		return
	case len(f.Options) > 0:
		kind = strings.Join(f.Options, "|")
	case f.Items != nil && f.Type == catalog.Array:
		kind = "list of " + string(f.Items.Type)
	}
	t.add(path, kind, f.Default, firstSentence(f.Help))
	inner := f.Fields
	if f.Items != nil {
		inner = f.Items.Fields
	}
	for _, c := range inner {
		addField(t, c, required)
	}
}
