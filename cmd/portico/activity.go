package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/portal/client"
)

type activityFlags struct {
	format string
	all    bool
	limit  int64
}

func (a *app) activityCommand() *cobra.Command {
	f := activityFlags{}
	cmd := &cobra.Command{
		Use: "activity", Short: "List who requested, changed or deleted what lately, newest first", Args: words(0, 0),
		Long: `Activity lists what people and tools did through the portal, its REST API and this command, for as long as Kubernetes keeps
events: about an hour. It does not show what was done with kubectl. Without -n it covers every namespace in which you can list events.`,
		Example: `  portico activity
  portico activity -n payments`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.activity(cmd.Context(), f) },
	}
	cmd.Flags().BoolVarP(&f.all, "all-namespaces", "A", false, "of every namespace that you have access to, whatever "+
		"$PORTICO_NAMESPACE says")
	cmd.Flags().Int64Var(&f.limit, "limit", 50, "how `many` at most, up to 500")
	a.outputFlag(cmd, &f.format, plainFormats)
	return cmd
}

func (a *app) activity(ctx context.Context, f activityFlags) error {
	if f.all && a.namespace != "" {
		return usagef("-A is every namespace, and -n %s one: leave one of them out", a.namespace)
	}
	if f.limit < 1 || f.limit > 500 {
		return usagef("--limit %d: want 1 to 500", f.limit)
	}
	api, err := a.api()
	if err != nil {
		return err
	}
	asked := client.ListActivityOptions{Limit: f.limit}
	if !f.all {
		asked.Namespace = cmp.Or(a.namespace, a.env("PORTICO_NAMESPACE"))
	}
	done, err := api.ListActivity(ctx, asked)
	if err != nil {
		return err
	}
	if f.format != "table" {
		return a.encode(f.format, done)
	}
	if len(done.Items) == 0 {
		a.say("Nobody has requested, changed or deleted anything lately. Kubernetes keeps this for about an hour.")
		return nil
	}
	t := a.table("NAMESPACE", "KIND", "NAME", "AGE", "TIMES", "WHAT WAS DONE")
	for _, d := range done.Items {
		t.add(d.Namespace, d.Kind, d.Name, a.since(d.Time), fmt.Sprint(d.Count), d.Message)
	}
	return t.write()
}
