package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
	"github.com/portico-platform/portico/portal/status"
)

// latest is the number of events that describe shows.
const latest = 10

func (a *app) describeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "describe [KIND] NAME",
		Short: "Show one resource: its status, progress, details and latest events",
		Args:  words(1, 2),
		Long: `Describe shows what the page of a resource in the portal shows: its status and the reason, where to connect, the steps on the way
to Ready, the versions of a web app, and the latest events. Leave out the kind if no other resource has the name.`,
		Example:           "  portico describe orders -n payments\n  portico describe database orders -n payments",
		ValidArgsFunction: a.completeNamed,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, obj, err := a.described(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.describe(cmd.Context(), t, obj)
		},
	}
}

// described returns the object in the arguments; the kind can be left out.
func (a *app) described(ctx context.Context, args []string) (target, *object, error) {
	if args = slashed(args); len(args) == 2 {
		t, err := a.target(ctx, args)
		if err != nil {
			return t, nil, err
		}
		return t.found(ctx)
	}
	if err := a.load(ctx); err != nil {
		return target{}, nil, err
	}
	var ours, others []string
	for _, k := range a.kinds.Requestable() {
		if k.Own() {
			ours = append(ours, k.Plural)
		} else {
			others = append(others, k.Plural)
		}
	}
	t, obj, err := a.named(ctx, args[0], ours)
	if client.StatusOf(err) == http.StatusNotFound && len(others) > 0 { // each kind takes a request
		t, obj, err = a.named(ctx, args[0], others)
	}
	if k, none := a.outline(ctx, args[0]); err != nil && none == nil {
		return t, nil, usagef("which %s? Name it too, such as portico describe %s NAME", k.Noun(), k.Word())
	}
	return t, obj, err
}

func (a *app) describe(ctx context.Context, t target, obj *object) error {
	checks, noChecks := &client.Checks{}, error(nil)
	if t.kind.Own() { // nobody checks objects of others
		if checks, noChecks = t.objects().Checks(ctx, t.name); noChecks != nil {
			checks = &client.Checks{}
		}
	}
	if err := a.summary(t, obj, checks); err != nil {
		return err
	}
	if err := a.steps(t.kind, obj); err != nil {
		return err
	}
	if t.kind.ID() == catalog.AppKind {
		if err := a.versions(obj); err != nil {
			return err
		}
	}
	events, noEvents := t.objects().Events(ctx, t.name)
	if noEvents == nil {
		if err := a.eventTable(events.Items[:min(latest, len(events.Items))]); err != nil {
			return err
		}
	}
	return cmp.Or(a.missing("The checks", noChecks), a.missing("The events", noEvents))
}

// missing returns why a part is not shown. A missing right to it is no error, since the rest was requested too.
func (a *app) missing(part string, err error) error {
	if client.StatusOf(err) != http.StatusForbidden {
		return err
	}
	a.say("%s are not shown: %s", part, clean(err.Error()))
	return nil
}

// line is a detail of an object.
type line struct{ name, value string }

func (a *app) summary(t target, o *object, checks *client.Checks) error {
	state, why := status.PhaseIn(t.kind, o)
	lines := []line{
		{"Name", o.GetName()},
		{"Namespace", o.GetNamespace()},
		{"Kind", t.kind.Title + " (" + t.kind.Name + ")"},
		{"Status", string(state)},
		{"Why", why},
		{"Endpoint", t.kind.EndpointOf(o)},
		{"Secret", catalog.TextAt(o, "status", "binding", "name")},
		{"Used by", status.UsersOf(o)},
	}
	for _, c := range t.kind.Columns {
		if slices.Contains(t.kind.Overview, c.Name) {
			lines = append(lines, line{c.Name, c.Value(o)})
		}
	}
	lines = append(lines, []line{
		{"AWS account", catalog.TextAt(o, "spec", "providerRef", "name")},
		{"Region", catalog.TextAt(o, "status", "region")},
		{"ARN", catalog.TextAt(o, "status", "arn")},
		{"Deletion policy", catalog.TextAt(o, "spec", "deletionPolicy")},
		{"Requested by", requester(o)},
		{"Age", a.age(o)},
	}...)
	if checks.LastChecked != nil {
		lines = append(lines, line{"Last checked", a.since(*checks.LastChecked) + " ago: " + checks.Message})
	}
	for _, name := range slices.Sorted(maps.Keys(checks.Live)) {
		lines = append(lines, line{name, checks.Live[name]})
	}
	return a.details(lines)
}

// requester returns who requested an object, with the run of a pipeline if one did.
func requester(o *object) string {
	who := deploy.Name(o.GetAnnotations()[v1alpha1.AnnotationRequestedBy])
	if run := catalog.TextAt(o, "status", "requestedRun"); run != "" {
		who += " (" + run + ")"
	}
	return who
}

// details prints the lines that have a value.
func (a *app) details(lines []line) error {
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

// steps prints the object's steps to Ready.
func (a *app) steps(k catalog.Kind, o *object) error {
	t := a.table("STEP", "STATE", "SINCE", "REASON", "MESSAGE")
	for _, s := range status.FactsIn(k, o).Steps(k) {
		since, err := time.Parse(time.RFC3339, s.Since)
		if err != nil {
			since = time.Time{} // it is not shown then
		}
		t.add(s.Title, s.State, a.since(since), s.Reason, s.Text)
	}
	return t.section()
}

// versions prints the versions of a web app, which rollback accepts.
func (a *app) versions(o *object) error {
	app, err := webAppOf(o)
	if err != nil {
		return err
	}
	t := a.table("VERSION", "IMAGE", "AGE", "AVAILABLE")
	for _, r := range app.Status.Revisions {
		available := strconv.FormatInt(int64(r.Available), 10)
		if r.NeverAvailable {
			available = "never"
		}
		t.add(strconv.FormatInt(r.Revision, 10), r.Image, a.since(r.Created.Time), available)
	}
	return t.section()
}

func (a *app) eventsCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "events KIND NAME", Short: "List what happened to one resource, newest first",
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
