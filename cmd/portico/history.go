package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

func (a *app) historyCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "history KIND NAME",
		Short: "List who changed one resource and what, newest first",
		Args:  words(1, 2),
		Long: `History lists the last versions of a resource: who changed it, when, with which client, and which settings. -o yaml shows the
settings of each version. To return to one, use the tab History of the resource in the portal, or apply its settings again.`,
		Example:           "  portico history bucket reports -n payments",
		ValidArgsFunction: a.completeObjects,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.target(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.history(cmd.Context(), t, format)
		},
	}
	a.outputFlag(cmd, &format, plainFormats)
	return cmd
}

func (a *app) history(ctx context.Context, t target, format string) error {
	if k := t.kind; !k.Own() {
		return usagef("Portico keeps no history of %s, which belongs to %s", refOf(k, t.name), k.Controller.Name)
	}
	past, err := t.objects().History(ctx, t.name)
	if err != nil {
		return err
	}
	if format != "table" {
		return a.encode(format, past)
	}
	if len(past.Items) == 0 {
		a.say("There is no history yet: Portico records a resource at its first check.")
		return nil
	}
	rows := a.table("VERSION", "AGE", "CHANGED BY", "WITH", "CHANGED")
	for i, v := range past.Items {
		rows.add(fmt.Sprint(v.Generation), a.since(v.Time), changer(v),
			cmp.Or(v.ChangedWith, "unknown"), changedIn(past.Items, i))
	}
	return rows.write()
}

// changer returns who made a version, with the run of a pipeline if one did.
func changer(v client.PastVersion) string {
	who := cmp.Or(deploy.Name(v.ChangedBy), "unknown")
	if v.ChangedRun != "" {
		who += " (" + v.ChangedRun + ")"
	}
	return who
}

// changedIn returns what a version changed in the previous one.
func changedIn(all []client.PastVersion, i int) string {
	v := all[i]
	switch {
	case v.Generation == 1:
		return "requested"
	case i+1 == len(all):
		return "unknown, the version before is not recorded"
	}
	fields := make([]string, 0, len(v.Changed))
	for _, pointer := range v.Changed {
		fields = append(fields, catalog.PointerAt(strings.TrimPrefix(pointer, "/spec")))
	}
	text := cmp.Or(strings.Join(fields, ", "), "nothing")
	if missed := v.Generation - all[i+1].Generation - 1; missed > 0 {
		text += fmt.Sprintf(" (together with %d that were not recorded)", missed)
	}
	return text
}
