package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/portal/client"
)

// The interval and the number of requests while AWS has not answered.
const (
	deletedEvery = time.Second
	deletedTries = 30
)

func (a *app) deletedCommand() *cobra.Command {
	format := ""
	cmd := &cobra.Command{
		Use: "deleted", Short: "List what AWS still has of deleted resources, and how to get it back",
		Args: words(0, 0),
		Long: `Deleted lists resources that you chose to keep in AWS when you deleted them, and final snapshots of databases. AWS charges for
them until somebody deletes them there. AWS shows them a few minutes late. For each one, the command that gets it back is shown:
a kept resource is managed again as it is, and a snapshot becomes a new database. Replace each VALUE
by one of your choice.`,
		Example: "  portico deleted -n payments", ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.deleted(cmd.Context(), format) },
	}
	a.outputFlag(cmd, &format, plainFormats)
	return cmd
}

func (a *app) deleted(ctx context.Context, format string) error {
	c, ns, err := a.apiInNamespace(ctx)
	if err != nil {
		return err
	}
	all, err := a.listDeleted(ctx, c, ns)
	if err != nil {
		return err
	}
	if format != "table" {
		return a.encode(format, all)
	}
	for _, problem := range all.Problems {
		a.say("Not complete: %s", clean(problem))
	}
	if len(all.Items) == 0 {
		if len(all.Problems) == 0 {
			a.say("AWS has nothing left of deleted resources.")
		}
		return nil
	}
	table := a.table("KIND", "NAME", "LEFT", "ID", "ACCOUNT", "REGION", "ABOUT")
	for _, d := range all.Items {
		table.add(d.Kind, d.Name, whatIsLeft(d), d.Id, d.Provider, d.Region, d.Facts)
	}
	if err := table.write(); err != nil {
		return err
	}
	a.say("")
	for _, d := range all.Items {
		a.say("%s", clean(howToGetBack(d, ns)))
	}
	return nil
}

// listDeleted retries until AWS has answered.
func (a *app) listDeleted(ctx context.Context, c *client.Client, ns string) (*client.Deleted, error) {
	for try := 1; ; try++ {
		all, err := c.ListDeleted(ctx, ns)
		if err != nil || !all.Pending {
			return all, err
		}
		if try == deletedTries {
			return nil, errors.New("AWS has not answered yet: try again in a minute")
		}
		select {
		case <-time.After(deletedEvery):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func whatIsLeft(d client.DeletedItem) string {
	if d.Snapshot {
		return "snapshot"
	}
	return "kept"
}

// howToGetBack returns the command that restores it, or why that is not possible.
func howToGetBack(d client.DeletedItem, ns string) string {
	if d.NameInUse && !d.Snapshot {
		return "# " + d.Kind + " " + d.Name + " exists again: delete that one first to manage " + d.Id + " again"
	}
	name := d.Name
	if d.NameInUse {
		name += "-restored"
	}
	words := []string{"portico", "request", strings.ToLower(d.Kind), shellWord(name), "-n", shellWord(ns)}
	set := func(field, value string) { words = append(words, "--set", field+"="+shellWord(value)) }
	set("providerRef", d.Provider)
	set("region", d.Region)
	for _, field := range slices.Sorted(maps.Keys(d.Spec)) {
		set(field, d.Spec[field])
	}
	for _, field := range d.Choose {
		words = append(words, "--set", field+"=VALUE")
	}
	if !d.Snapshot {
		set("deletionPolicy", "Retain")
	}
	return strings.Join(words, " ")
}
