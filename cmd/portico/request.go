package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

type requestFlags struct {
	set     []string
	file    string
	format  string
	dryRun  bool
	wait    bool
	timeout time.Duration
}

func (a *app) requestCommand() *cobra.Command {
	f := requestFlags{}
	cmd := &cobra.Command{
		Use: "request [KIND [NAME]] --set FIELD=VALUE…", Short: "Request something new", Args: words(0, 2),
		Long: `Request creates a new resource. Its fields come from --set, from a file, or from both: --set wins.

FIELD is a path below spec, as portico kinds KIND lists them; for a reference, the name of the other resource
is enough. Elements of lists are numbered from 0, entries of maps follow a dot. VALUE is text, a number, or true or false.

On a terminal, request asks for the kind, the name and the required fields that you leave out, shows what it will make and asks
whether to go on. In scripts it asks nothing.

Without providerRef, the request uses the AWS account that the team prefers, or the only one that it can use. Without a file,
deletionPolicy is what the team wants unless --set says it; a file that leaves it out gets the default of its kind.`,
		Example: `  portico request database
  portico request bucket reports -n payments --set versioning=Enabled --wait
  portico request bucket reports -n payments --set providerRef=aws --set tags.cost-center=4711 --dry-run
  portico request -f bucket.yaml -n payments`,
		ValidArgsFunction: a.completeNewObject,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.request(cmd.Context(), slashed(args), f)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.set, "set", nil, "`field=value`, once for each field")
	flags.StringVarP(&f.file, "file", "f", "", "`path` of a YAML file with one resource; - is standard input")
	flags.StringVarP(&f.format, "output", "o", "", "print the resource too, in this `format`: "+orList(formats))
	flags.BoolVar(&f.dryRun, "dry-run", false, "check it and show it with its defaults as YAML, but request nothing")
	a.waitFlags(cmd, &f.wait, &f.timeout, "wait until it is Ready")
	a.complete(cmd, "output", formats)
	_ = cmd.RegisterFlagCompletionFunc("set", a.completeFields) // the flag is there
	return cmd
}

func (a *app) request(ctx context.Context, args []string, f requestFlags) error {
	if f.format != "" {
		if err := checkFormat(f.format, formats); err != nil {
			return err
		}
	}
	asked := false
	if a.asks && f.file == "" {
		d := dialog{app: a, set: f.set}
		if err := d.run(ctx, args); err != nil {
			return err
		}
		args, f.set, asked = []string{d.kind.Plural, d.name}, d.set, d.asked
	}
	obj, k, err := a.wanted(ctx, args, f)
	if err != nil {
		return err
	}
	t, err := a.requested(ctx, obj, k)
	if err == nil {
		err = begin(ctx, t, obj, f.file != "")
	}
	if err == nil && asked && !f.dryRun {
		err = a.agreed(ctx, t, obj, f.set)
	}
	if err != nil {
		return err
	}
	return a.create(ctx, t, obj, f)
}

// create requests the object, or shows it with --dry-run.
func (a *app) create(ctx context.Context, t target, obj *object, f requestFlags) error {
	options := client.CreateOptions{}
	if f.dryRun {
		options.DryRun = dryRun
	}
	made, err := t.objects().Create(ctx, obj, options)
	if err != nil {
		return err
	}
	a.warn(made.Warnings)
	if f.dryRun {
		return a.shown(&made.Object)
	}
	a.say("Requested %s%s.", refOf(t.kind, t.name), inWords(t.namespace))
	if f.wait {
		if made.Object, err = a.awaitThis(ctx, t, &made.Object, untilReady, f.timeout); err != nil {
			return err
		}
	}
	if f.format != "" {
		return a.print(f.format, []object{made.Object}, true)
	}
	return nil
}

// requested returns the target: the object's kind, name and namespace.
func (a *app) requested(ctx context.Context, obj *object, k catalog.Kind) (target, error) {
	c, err := a.api()
	if err != nil {
		return target{}, err
	}
	t := target{kind: k, name: obj.GetName(), namespace: obj.GetNamespace(), api: c}
	err = a.place(ctx, &t)
	return t, err
}

// providerField names the AWS account of a request.
const providerField = "spec.providerRef"

// begin fills in missing values, as the portal's forms do: the AWS account and, unless the object is from a file, the
// team's deletion policy.
func begin(ctx context.Context, t target, obj *object, fromFile bool) error {
	const policy = "deletionPolicy"
	wantsPolicy := !fromFile && t.kind.Has(policy) && catalog.TextAt(obj, "spec", policy) == ""
	wantsProvider := t.kind.Has("providerRef") && catalog.TextAt(obj, "spec", "providerRef", "name") == ""
	if !wantsPolicy && !wantsProvider {
		return nil
	}
	offered, err := t.api.ListCatalog(ctx, client.ListCatalogOptions{Namespace: t.namespace})
	if err != nil {
		return err
	}
	name := provider(offered)
	if wantsProvider && name == "" && len(offered.Providers) > 1 {
		return usagef("which AWS account? Name it with --set providerRef=NAME: %s can use %s", clean(t.namespace),
			orList(providers(offered)))
	}
	if wantsProvider && name != "" {
		err = unstructured.SetNestedField(obj.Object, name, "spec", "providerRef", "name")
	}
	if d := offered.Defaults; err == nil && wantsPolicy && d != nil && t.kind.Chooses(policy, d.DeletionPolicy) {
		err = unstructured.SetNestedField(obj.Object, d.DeletionPolicy, "spec", policy)
	}
	return err
}

// provider returns the AWS account of requests without one, or "".
func provider(offered *client.Catalog) string {
	if offered.Defaults == nil {
		return ""
	}
	return offered.Defaults.Provider
}

func providers(offered *client.Catalog) []string {
	names := make([]string, 0, len(offered.Providers))
	for _, p := range offered.Providers {
		names = append(names, p.Name)
	}
	return names
}

// dryRun requests a dry run from the API.
const dryRun = "All"

// place sets the namespace of the written object: the file's, which must not differ from the flag's.
func (a *app) place(ctx context.Context, t *target) error {
	switch {
	case !t.kind.Namespaced:
		t.namespace = ""
		return nil
	case t.namespace == "":
		ns, err := a.inNamespace(ctx, t.api)
		t.namespace = ns
		return err
	case a.namespace != "" && a.namespace != t.namespace:
		return usagef("the file says namespace %s, and -n %s: make them the same, or leave one out", t.namespace,
			a.namespace)
	}
	return nil
}

// wanted returns the object that the command line and the file describe, and its kind.
func (a *app) wanted(ctx context.Context, args []string, f requestFlags) (*object, catalog.Kind, error) {
	var base *object
	var k catalog.Kind
	var err error
	if len(args) > 0 {
		if k, err = a.requestable(ctx, args[0]); err != nil {
			return nil, k, err
		}
	}
	if f.file != "" {
		if base, k, err = a.fromFile(ctx, f.file, k); err != nil {
			return nil, k, err
		}
	}
	if k.Name == "" {
		return nil, k, usagef("what? Name a kind and a name, such as bucket reports, or a file with -f")
	}
	if err := requestable(k); err != nil {
		return nil, k, err
	}
	obj, err := withSet(k, base, f.set)
	if err != nil {
		return nil, k, err
	}
	if len(args) == 2 {
		obj.SetName(args[1])
	}
	if obj.GetName() == "" {
		return nil, k, usagef("give the %s a name, such as portico request %s reports", k.Noun(), k.Word())
	}
	return obj, k, nil
}

// requestable finds a kind that teams request.
func (a *app) requestable(ctx context.Context, name string) (catalog.Kind, error) {
	k, err := a.kindNamed(ctx, name)
	if err == nil {
		err = requestable(k)
	}
	return k, err
}

func requestable(k catalog.Kind) error {
	if k.KeptBy != "" {
		return usagef("%s cannot be requested: it is managed by %s", spoken.A(k.Noun()), k.KeptBy)
	}
	return nil
}

// fromFile reads the only object in a file, which must be of kind k if k is set.
func (a *app) fromFile(ctx context.Context, path string, k catalog.Kind) (*object, catalog.Kind, error) {
	all, err := a.readFile(ctx, path)
	switch {
	case err != nil:
		return nil, k, err
	case len(all) != 1:
		return nil, k, usagef("%s has %d resources, and request takes one at a time: portico apply -f takes several",
			path, len(all))
	case k.Name != "" && all[0].kind.Name != "" && all[0].kind.ID() != k.ID():
		return nil, k, usagef("%s has %s, not %s", path, spoken.A(all[0].kind.Name), spoken.A(k.Name))
	case k.Name == "":
		k = all[0].kind
	}
	if k.Name == "" {
		return nil, k, usagef("%s does not say its kind: add apiVersion and kind, or name the kind before -f", path)
	}
	obj, err := k.ParseYAML(all[0].text)
	if err != nil {
		return nil, k, fmt.Errorf("%s: %w", path, err)
	}
	return obj, k, nil
}

// shown prints an object as YAML, as users write it.
func (a *app) shown(o *object) error {
	text, err := catalog.ToYAML(o)
	if err != nil {
		return err
	}
	_, err = a.out.Write(text)
	return err
}

// inWords returns " in" and the namespace, to follow an object's name, or "" without a namespace.
func inWords(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in " + clean(namespace)
}
