package main

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

type getFlags struct {
	format string
	all    bool
	watch  bool
	client.ListResourcesOptions
}

func (a *app) getCommand() *cobra.Command {
	f := getFlags{}
	cmd := &cobra.Command{
		Use: "get [KIND [NAME]]", Short: "List resources and their status", Args: words(0, 2),
		Long: `Get shows one resource, those of a kind, or all of every kind. Without -n it shows every namespace that you have access to.

The status is one word: Ready, In progress, Needs you, Paused or Deleting.`,
		Example: `  portico get
  portico get buckets -n payments
  portico get --status needs-you --watch
  portico get bucket reports -n payments -o yaml`,
		ValidArgsFunction: a.completeObjects,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.get(cmd.Context(), slashed(args), f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "of every namespace that you have access to, whatever "+
		"$PORTICO_NAMESPACE says")
	flags.BoolVarP(&f.watch, "watch", "w", false, "keep showing what changes, until you interrupt it")
	flags.StringVar(&f.Status, "status", "", "only what is in this `state`: "+orList(slugs()))
	flags.StringVarP(&f.LabelSelector, "selector", "l", "", "only what has these `labels`, such as team=search,!trial")
	flags.StringVarP(&f.Q, "query", "q", "", "only what has these `words` in name, kind, endpoint or requester")
	flags.StringVar(&f.Sort, "sort", "", "by `what`: name, age (newest first) or status (what needs you first); "+
		"-name reverses the order")
	a.outputFlag(cmd, &f.format, formats)
	a.complete(cmd, "status", slugs())
	return cmd
}

func slugs() []string {
	var all []string
	for _, p := range phase.All() {
		all = append(all, p.Slug())
	}
	return all
}

func (a *app) get(ctx context.Context, args []string, f getFlags) error {
	if _, ok := phase.Parse(f.Status); f.Status != "" && !ok {
		return usagef("--status %q: want %s", f.Status, orList(slugs()))
	}
	if f.all && a.namespace != "" {
		return usagef("-A is every namespace, and -n %s one: leave one of them out", a.namespace)
	}
	if len(args) == 2 {
		return a.getOne(ctx, args, f)
	}
	v, err := a.view(ctx, args, f)
	if err != nil {
		return err
	}
	if f.watch {
		return a.watch(f, v.watch(ctx))
	}
	list, forbidden, err := v.list(ctx)
	if err != nil {
		return err
	}
	a.sayForbidden(forbidden)
	return a.print(f.format, list, false)
}

func (a *app) getOne(ctx context.Context, args []string, f getFlags) error {
	if f.all || f.ListResourcesOptions != (client.ListResourcesOptions{}) {
		return usagef("one resource is named: leave out -A and the filters")
	}
	t, err := a.target(ctx, args)
	if err != nil {
		return err
	}
	if f.watch {
		return a.watch(f, t.objects().WatchOne(ctx, t.name))
	}
	got, err := t.current(ctx)
	if err != nil {
		return err
	}
	return a.print(f.format, []object{got.Object}, true)
}

// view is a list of one kind, or of all that teams request.
type view struct {
	api        *client.Client
	kind       catalog.Kind
	across     bool // one list over namespaces; otherwise one for each
	namespaces []string
	client.ListResourcesOptions
}

func (a *app) view(ctx context.Context, args []string, f getFlags) (view, error) {
	v := view{across: true, ListResourcesOptions: f.ListResourcesOptions}
	err := a.load(ctx)
	if err != nil {
		return v, err
	}
	if len(args) == 1 {
		if v.kind, err = a.outline(ctx, args[0]); err != nil {
			return v, err
		}
		v.across = v.kind.Namespaced && v.kind.KeptBy == ""
	}
	if v.api, err = a.api(); err != nil {
		return v, err
	}
	namespace := a.namespace
	if namespace == "" && !f.all {
		namespace = a.env("PORTICO_NAMESPACE")
	}
	v.Limit, v.Kind, v.Namespace, v.namespaces = pageSize, v.kind.Plural, namespace, []string{namespace}
	if !v.across && v.kind.Namespaced && namespace == "" {
		me, err := v.api.GetMe(ctx, client.GetMeOptions{})
		if err != nil {
			return v, err
		}
		v.namespaces = me.Namespaces
	}
	return v, nil
}

// sayForbidden prints which kinds a list leaves out.
func (a *app) sayForbidden(kinds []string) {
	if len(kinds) > 0 {
		a.say("left out, because you have no access to them here: %s", strings.Join(kinds, ", "))
	}
}

// list reads every page, and the kinds that the caller cannot list.
func (v view) list(ctx context.Context) (all []object, forbidden []string, err error) {
	if v.across {
		all, err = client.All(func(cursor string) (*client.Page[object], error) {
			o := v.ListResourcesOptions
			o.Cursor = cursor
			p, err := v.api.ListResources(ctx, o)
			if err == nil {
				forbidden = p.Forbidden
			}
			return p, err
		})
		return all, forbidden, err
	}
	for _, ns := range v.namespaces {
		some, err := client.All(func(cursor string) (*client.Page[object], error) {
			o := v.ofKind()
			o.Cursor = cursor
			return v.api.Of(wire(v.kind), ns).List(ctx, o)
		})
		if err != nil {
			return nil, nil, err
		}
		all = append(all, some...)
	}
	return all, nil, nil
}

func (v view) ofKind() client.ListOptions {
	return client.ListOptions{LabelSelector: v.LabelSelector, Status: v.Status, Q: v.Q, Sort: v.Sort, Limit: v.Limit}
}

// watch follows the list; for a kind that teams do not write, in one namespace only.
func (v view) watch(ctx context.Context) changes {
	if v.across {
		v.Limit = 0
		return v.api.WatchResources(ctx, v.ListResourcesOptions)
	}
	if len(v.namespaces) != 1 {
		return func(yield func(client.Change[object], error) bool) {
			yield(client.Change[object]{}, usagef("--watch shows this kind in one namespace only: name it with -n"))
		}
	}
	o := v.ofKind()
	o.Limit = 0
	return v.api.Of(wire(v.kind), v.namespaces[0]).Watch(ctx, o)
}

// changes are the changes in a stream.
type changes = iter.Seq2[client.Change[object], error]

// watch shows what changes, one line each: as a table, or as objects in JSON.
func (a *app) watch(f getFlags, all changes) error {
	if f.format == "wide" || f.format == "yaml" {
		return usagef("--watch shows table, name or json: leave out -o %s", f.format)
	}
	w := watching{app: a, format: f.format}
	for change, err := range all {
		if err == nil {
			err = w.show(change)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// watching is a table that grows.
type watching struct {
	*app
	format string
	headed bool
}

func (w *watching) show(change client.Change[object]) error {
	list := change.Snapshot
	w.sayForbidden(change.Forbidden)
	switch {
	case change.Object != nil:
		list = []object{*change.Object}
	case change.Left != nil:
		w.say("%s %s%s: %s", change.Left.Kind, clean(change.Left.Name), inWords(change.Left.Namespace),
			change.Left.Reason)
		return nil
	}
	if w.format == "json" {
		for _, o := range list {
			if err := json.NewEncoder(w.out).Encode(o.Object); err != nil {
				return err
			}
		}
		return nil
	}
	if w.format == "name" {
		return w.print(w.format, list, false)
	}
	t := w.table(listHead...)
	t.widths, t.bare, w.headed = listWidths, w.headed, true
	for _, o := range list {
		t.add(w.row(&o, nil, false)...)
	}
	return t.write()
}

// pageSize is the API's maximum.
const pageSize = 500

func (a *app) complete(cmd *cobra.Command, flag string, words []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, so string) (
		[]string, cobra.ShellCompDirective,
	) {
		return startingWith(words, so), cobra.ShellCompDirectiveNoFileComp
	}) // the flag is there
}

func startingWith(words []string, so string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, so) })
}
