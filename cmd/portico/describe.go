package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/client"
	"github.com/portico-platform/portico/portal/status"
)

// latest is how many events describe shows.
const latest = 10

func (a *app) describeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "describe KIND NAME", Short: "Say how one object is doing and what is in the way",
		Example: "  portico describe database orders -n payments", Args: words(1, 2), ValidArgsFunction: a.completeObjects,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.target(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.describe(cmd.Context(), t)
		},
	}
}

func (a *app) describe(ctx context.Context, t target) error {
	got, err := t.current(ctx)
	if err != nil {
		return err
	}
	checks, noChecks := t.objects().Checks(ctx, t.name)
	if noChecks != nil {
		checks = &client.Checks{}
	}
	if err := a.summary(t, &got.Object, checks); err != nil {
		return err
	}
	if err := a.conditions(&got.Object); err != nil {
		return err
	}
	events, noEvents := t.objects().Events(ctx, t.name)
	if noEvents == nil {
		if err := a.eventTable(events.Items[:min(latest, len(events.Items))]); err != nil {
			return err
		}
	}
	return cmp.Or(a.missing("The checks", noChecks), a.missing("The events", noEvents))
}

// missing says why a part is not shown. That the right to it is missing is no error: the rest was asked for too.
func (a *app) missing(part string, err error) error {
	if client.StatusOf(err) != http.StatusForbidden {
		return err
	}
	a.say("%s are not shown: %s", part, clean(err.Error()))
	return nil
}

func (a *app) summary(t target, o *object, checks *client.Checks) error {
	state, why := status.Of(o)
	lines := []struct{ name, value string }{
		{"Name", o.GetName()},
		{"Namespace", o.GetNamespace()},
		{"Kind", t.kind.Title + " (" + t.kind.Name + ")"},
		{"Status", string(state)},
		{"In the way", why},
		{"Endpoint", t.kind.EndpointOf(o)},
		{"Used by", status.UsersOf(o)},
		{"Requested by", o.GetAnnotations()[v1alpha1.AnnotationRequestedBy]},
		{"Age", a.age(o)},
	}
	if checks.LastChecked != nil {
		lines = append(lines, struct{ name, value string }{"Last checked", a.since(*checks.LastChecked) + " ago: " + checks.Message})
	}
	for _, name := range slices.Sorted(maps.Keys(checks.Live)) {
		lines = append(lines, struct{ name, value string }{name, checks.Live[name]})
	}
	width := 0
	for _, l := range lines {
		width = max(width, len(l.name))
	}
	paint := a.table()
	var b strings.Builder
	for _, l := range lines {
		if l.value != "" {
			_, _ = fmt.Fprintf(&b, "%-*s %s\n", width+1, l.name+":", paint.paint(clean(l.value)))
		}
	}
	_, err := fmt.Fprintln(a.out, b.String())
	return err
}

func (a *app) conditions(o *object) error {
	t := a.table("CONDITION", "STATUS", "SINCE", "REASON", "MESSAGE")
	for _, c := range status.FactsOf(o).Conditions {
		since, err := time.Parse(time.RFC3339, c.Since)
		if err != nil {
			since = time.Time{} // it is not shown then
		}
		t.add(c.Type, c.Status, a.since(since), c.Reason, c.Message)
	}
	if len(t.rows) == 0 {
		return nil
	}
	if err := t.write(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.out)
	return err
}

func (a *app) eventsCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "events KIND NAME", Short: "List what happened to one object, newest first",
		Example: "  portico events bucket reports -n payments", Args: words(1, 2), ValidArgsFunction: a.completeObjects,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.target(cmd.Context(), args)
			if err != nil {
				return err
			}
			events, err := t.objects().Events(cmd.Context(), t.name)
			if err != nil {
				return err
			}
			if format != "table" {
				return a.encode(format, events)
			}
			return a.eventTable(events.Items)
		},
	}
	a.outputFlag(cmd, &format, plainFormats)
	return cmd
}

func (a *app) eventTable(events []client.Event) error {
	if len(events) == 0 {
		a.say("There are no events: Kubernetes keeps them for about an hour.")
		return nil
	}
	t := a.table("EVENT", "REASON", "AGE", "TIMES", "MESSAGE")
	for _, e := range events {
		t.add(e.Type, e.Reason, a.since(e.Time), fmt.Sprint(e.Count), e.Message)
	}
	return t.write()
}
