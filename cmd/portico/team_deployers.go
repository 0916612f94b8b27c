package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/client"
)

func (a *app) teamDeployersCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "deployers TEAM",
		Short:             "Show the pipelines that deploy for a team, and when each was last used",
		Args:              words(1, 1),
		ValidArgsFunction: a.completeFor(v1alpha1.KindTeam),
		Long: `Deployers shows the pipelines that deploy for a team: for what each runs, what it can do, when it was last used and by which run,
and which claim of a job's token did not fit when it was last refused. Owners add and remove them on the page of the team, or with
portico edit team TEAM.`,
		Example: "  portico team deployers growth",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.deployers(cmd.Context(), args[0]) },
	}
}

func (a *app) deployers(ctx context.Context, name string) error {
	t, err := a.teamTarget(ctx, name)
	if err != nil {
		return err
	}
	got, err := t.objects().Get(ctx, name, client.GetOptions{CacheControl: "no-cache"})
	if err != nil {
		return err
	}
	team := &v1alpha1.Team{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object.Object, team); err != nil {
		return fmt.Errorf("reading team %s: %w", name, err)
	}
	if len(team.Spec.Deployers) == 0 {
		a.say("No pipeline deploys for team %s. An owner adds a deployer on the page of the team.", name)
		return nil
	}
	rows := a.table("DEPLOYER", "REPOSITORY", "RUNS FOR", "CAN", "LAST USED", "LAST REFUSED")
	for i := range team.Spec.Deployers {
		d := &team.Spec.Deployers[i]
		used, refused := "not set up", ""
		at := slices.IndexFunc(team.Status.Deployers, func(s v1alpha1.TeamDeployerStatus) bool {
			return s.Name == d.Name
		})
		if at >= 0 {
			used, refused = a.useOf(team.Status.Deployers[at])
		}
		what := cmp.Or(string(d.Role), strings.Join(d.Kinds, ","))
		rows.add(d.Name, d.Repository, deploy.RunsFor(d), what+" in "+strings.Join(d.Namespaces, ","), used, refused)
	}
	return rows.write()
}

// useOf returns when a deployer was last used and refused.
func (a *app) useOf(s v1alpha1.TeamDeployerStatus) (used, refused string) {
	used, refused = "never", "never"
	if s.LastUsed != nil {
		used = a.agoOf(*s.LastUsed) + ": " + s.LastRun
	}
	if deploy.Idle(s, a.clock.Now()) {
		used += " (not for 90 days)"
	}
	if s.LastRefused != nil {
		refused = a.agoOf(*s.LastRefused) + ": " + s.LastRefusal
	}
	return used, refused
}

func (a *app) agoOf(at metav1.Time) string { return a.since(at.Time) + " ago" }
