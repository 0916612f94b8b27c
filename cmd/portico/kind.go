package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/entry"
	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/check"
)

// offering are the flags of the commands about kinds of others.
type offering struct {
	cluster   clusterFlags
	namespace string
	file      string
	format    string
}

func (o *offering) open() (*check.Cluster, error) {
	cfg, err := o.cluster.config()
	if err != nil {
		return nil, err
	}
	return check.New(cfg, check.Names{Namespace: o.namespace})
}

func (a *app) kindCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "kind", Short: "Offer kinds of others in the catalog: ACK's, Crossplane's, cert-manager's and more",
		Long: `Kind helps a platform admin to offer kinds that the cluster has and that are not Portico's. A CatalogEntry describes each; see
docs/catalog.md. These commands talk to Kubernetes with your kubeconfig, not to the portal, and change nothing.`,
		Example: `  portico kind add buckets.s3.services.k8s.aws > bucket.yaml
  kubectl apply -f bucket.yaml
  portico kind roles buckets.s3.services.k8s.aws | kubectl apply -f -
  portico kind check`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.AddCommand(a.kindAddCommand(), a.kindRolesCommand(), a.kindCheckCommand())
	return cmd
}

// command returns a command about kinds of others with the flags of the cluster.
func (o *offering) command(cmd *cobra.Command) *cobra.Command {
	o.cluster.add(cmd)
	cmd.Flags().StringVar(&o.namespace, "system-namespace", "portico-system", "`namespace` of operator and portal")
	_ = cmd.RegisterFlagCompletionFunc("system-namespace", cobra.NoFileCompletions) // the flag is there
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

func (a *app) kindAddCommand() *cobra.Command {
	var o offering
	cmd := o.command(&cobra.Command{
		Use: "add [CRD]", Short: "Print a first CatalogEntry for a kind of the cluster", Args: words(0, 1),
		Long: `Add prints a first CatalogEntry for the kind of a custom resource definition: its title in words, the fields that are
required, where users connect to, and what is known of its controller. Complete it, and apply it.`,
		Example: "  portico kind add certificates.cert-manager.io > certificate.yaml\n  portico kind add -f crd.yaml",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.kindAdd(cmd.Context(), o, args) },
	})
	cmd.Flags().StringVarP(&o.file, "file", "f", "", "`path` of the definition, instead of its name in the cluster")
	_ = cmd.MarkFlagFilename("file", "yaml", "yml", "json") // the flag is there
	return cmd
}

func (a *app) kindAdd(ctx context.Context, o offering, args []string) error {
	crd, err := o.definition(ctx, args)
	if err != nil {
		return err
	}
	first, err := entry.First(crd)
	if err != nil {
		return err
	}
	out := map[string]any{
		"apiVersion": first.APIVersion, "kind": first.Kind, "metadata": map[string]any{"name": first.Name},
		"spec": first.Spec,
	}
	if err := a.encode("yaml", out); err != nil {
		return err
	}
	if open := entry.Check(&first.Spec, crd).Powers; len(open) > 0 {
		a.say("Before you apply it: the controller has powers that you must confirm in spec.confirmed: %s. "+
			"portico kind check says more.", spoken.And(powerNames(open)))
	}
	return nil
}

func powerNames(powers []v1alpha1.CatalogPower) (all []string) {
	for _, p := range powers {
		all = append(all, string(p))
	}
	return all
}

// definition returns the custom resource definition that the command line names.
func (o *offering) definition(ctx context.Context, args []string) (*apiext.CustomResourceDefinition, error) {
	if (o.file == "") == (len(args) == 0) {
		return nil, usagef("name a custom resource definition of the cluster, such as " +
			"certificates.cert-manager.io, or a file with one in -f")
	}
	if o.file != "" {
		text, err := os.ReadFile(o.file)
		if err != nil {
			return nil, err
		}
		crd := &apiext.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, crd); err != nil || crd.Spec.Group == "" {
			return nil, fmt.Errorf("%s has no custom resource definition", o.file)
		}
		return crd, nil
	}
	cluster, err := o.open()
	if err != nil {
		return nil, err
	}
	crd, err := cluster.Definition(ctx, args[0])
	if err == nil && crd == nil {
		err = hinted(fmt.Errorf("there is no custom resource definition %s", args[0]), "kubectl get crd lists them.")
	}
	return crd, err
}

func (a *app) kindRolesCommand() *cobra.Command {
	var o offering
	return o.command(&cobra.Command{
		Use: "roles [NAME...]", Short: "Print the roles that kinds of others need",
		Long: `Roles prints ClusterRoles for the kinds of others that have a CatalogEntry, or for those that you name: by them the portal
reads their resources and acts for its users, and members of teams can do what the entry's verbs say. They become part of
Portico's own roles by their labels. Portico gives itself no rights: apply them with kubectl.`,
		Example: "  portico kind roles | kubectl apply -f -",
		RunE: func(cmd *cobra.Command, args []string) error {
			entries, _, err := o.entries(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.printRoles(entries)
		},
	})
}

// entries returns the entries of kinds of others with these names, all of them without.
func (o *offering) entries(ctx context.Context, names []string) ([]v1alpha1.CatalogEntry, *check.Cluster, error) {
	cluster, err := o.open()
	if err != nil {
		return nil, nil, err
	}
	entries, err := cluster.Entries(ctx, names...)
	return entries, cluster, err
}

func (a *app) printRoles(entries []v1alpha1.CatalogEntry) error {
	if len(entries) == 0 {
		a.say("No catalog entry is of a kind of others: portico kind add prints a first one.")
	}
	for i := range entries {
		for _, role := range entry.Roles(&entries[i]) {
			if _, err := fmt.Fprintln(a.out, "---"); err != nil {
				return err
			}
			if err := a.encode("yaml", map[string]any{
				"apiVersion": role.APIVersion, "kind": role.Kind, "rules": role.Rules,
				"metadata": map[string]any{"name": role.Name, "labels": role.Labels},
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *app) kindCheckCommand() *cobra.Command {
	var o offering
	cmd := o.command(&cobra.Command{
		Use: "check [NAME...]", Short: "Tell what kinds of others lack to be offered",
		Long: `Check looks at every CatalogEntry of a kind of others, or at those that you name: whether its definition is served and has
what the entry names, whether its powers are confirmed, and whether portal and teams have the rights.`,
		Example: "  portico kind check\n  portico kind check certificates.cert-manager.io",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.kindCheck(cmd.Context(), o, args) },
	})
	a.outputFlag(cmd, &o.format, plainFormats)
	return cmd
}

func (a *app) kindCheck(ctx context.Context, o offering, names []string) error {
	entries, cluster, err := o.entries(ctx, names)
	if err != nil {
		return err
	}
	var all []check.Finding
	for i := range entries {
		found, err := cluster.Kind(ctx, &entries[i])
		if err != nil {
			return err
		}
		for _, f := range found {
			f.About = entries[i].Name + ": " + spoken.Lower(f.About)
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		a.say("No catalog entry is of a kind of others: portico kind add prints a first one.")
		return nil
	}
	if err := a.printFindings(o.format, all); err != nil {
		return err
	}
	if n := check.Lacks(all); n > 0 {
		return fmt.Errorf("kinds lack what they need to be offered, in %d of %d points", n, len(all))
	}
	return nil
}
