package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/config/check"
)

// checking are the flags of portico check.
type checking struct {
	cluster          clusterFlags
	names            check.Names
	before, fix, yes bool
	format           string
}

func (a *app) checkCommand() *cobra.Command {
	var c checking
	cmd := &cobra.Command{
		Use: "check", Short: "Tell what a cluster needs for Portico, and repair it", Args: words(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Check shows a cluster admin what this version of Portico needs and does not find, each with what to do. It talks to
Kubernetes with your kubeconfig, not to the portal.

With --fix it updates what Portico installs to this version: namespaces, custom resource definitions, roles and admission
policies. It says what it will do, and asks. An upgrade needs no other change of the cluster.`,
		Example: `  portico check --before
  portico check --context production
  portico check --fix`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.check(cmd.Context(), c) },
	}
	flags := cmd.Flags()
	c.cluster.add(cmd)
	flags.StringVar(&c.names.Namespace, "system-namespace", "portico-system", "`namespace` of operator and portal")
	flags.StringVar(&c.names.Gateways, "gateway-namespace", "portico-gateways", "`namespace` of the shared Gateways")
	flags.BoolVar(&c.before, "before", false, "before Portico is installed: do not look for what comes with it")
	flags.BoolVar(&c.fix, "fix", false, "bring the cluster to this version, after asking")
	flags.BoolVar(&c.yes, "yes", false, "do not ask")
	for _, name := range []string{"system-namespace", "gateway-namespace"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions) // the flags are there
	}
	a.outputFlag(cmd, &c.format, plainFormats)
	return cmd
}

func (a *app) check(ctx context.Context, c checking) error {
	switch {
	case c.fix && c.before:
		return usagef("--before looks at what is not installed yet, and --fix installs it: leave one out")
	case c.fix && !c.yes && !a.asks:
		return usagef("--fix needs --yes where nobody can be asked")
	}
	cfg, err := c.cluster.config()
	if err != nil {
		return err
	}
	cluster, err := check.New(cfg, c.names)
	if err != nil {
		return err
	}
	if c.fix {
		if err := a.fix(ctx, cluster, c.yes); err != nil {
			return err
		}
	}
	found, err := cluster.Survey(ctx, check.Survey{Before: c.before, Now: a.clock.Now})
	if err != nil {
		return err
	}
	if err := a.printFindings(c.format, found); err != nil {
		return err
	}
	if n := check.Lacks(found); n > 0 {
		return fmt.Errorf("the cluster lacks what Portico needs, in %d of %d points", n, len(found))
	}
	a.say("The cluster has what Portico needs.")
	return nil
}

// fix prints the planned changes, asks for confirmation unless yes is set, and makes them.
func (a *app) fix(ctx context.Context, cluster *check.Cluster, yes bool) error {
	steps, err := cluster.Plan(ctx)
	if err != nil {
		return err
	}
	if len(steps) == 0 {
		a.say("Everything that Portico installs is up to date.")
		return nil
	}
	a.say("To bring the cluster to this version, portico will:")
	for _, s := range steps {
		a.say("  %s", clean(s.Does))
	}
	if !yes {
		if err := a.confirmed(ctx); err != nil {
			return err
		}
	}
	done := 0
	if err := cluster.Apply(ctx, steps, func(check.Step) { done++ }); err != nil {
		return hinted(err, fmt.Sprintf("Done so far: %d of %d. What is done stays; run it again to go on.", done,
			len(steps)))
	}
	a.say("Done.")
	return nil
}

// marks are symbols of the states, for tables.
var marks = map[check.State]string{check.OK: "✓", check.Lacking: "✗", check.Unknown: "✗", check.Off: "–"}

func (a *app) printFindings(format string, found []check.Finding) error {
	if format != "table" {
		return a.encode(format, map[string]any{"ok": check.Lacks(found) == 0, "items": found})
	}
	t := a.table("", "WHAT", "HOW IT IS", "WHAT TO DO")
	for _, f := range found {
		says := f.Says
		if f.State == check.Unknown {
			says = "not known: " + says
		}
		t.add(cmp.Or(marks[f.State], string(f.State)), f.About, says, f.Fix)
	}
	return t.write()
}

// hinted returns err with advice, which is printed on its own line.
func hinted(err error, hint string) error { return fmt.Errorf("%w%s%s", err, hintMark, hint) }
