package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/client"
)

// teamCommand returns the commands about Teams, which admins create and owners manage.
func (a *app) teamCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "team",
		Short: "Look after teams: their members, and what they can use",
		Args:  words(0, 0),
		Long: `A team is a group of people with their own namespaces. Platform admins create teams and decide what they can have; owners of a team
decide who its members are. Name groups and users as Kubernetes knows them, with the portal's prefix, such as oidc:growth.`,
		Example: `  portico team create growth --set title=Growth --member group:oidc:team-growth=Developer --account development --wait
  portico team add-member growth user:oidc:jo@example.com --role Viewer
  portico team suspend growth`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.teamListCommand(), a.teamGetCommand(), a.teamCreateCommand(), a.teamMembersCommand(),
		a.teamDeployersCommand(),
		a.addMemberCommand(),
		a.removeMemberCommand(), a.suspendCommand(), a.resumeTeamCommand(), a.deleteTeamCommand())
	return cmd
}

// teamTarget returns the Team of that name.
func (a *app) teamTarget(ctx context.Context, name string) (target, error) {
	k, err := a.kindNamed(ctx, v1alpha1.KindTeam)
	if err != nil {
		return target{}, err
	}
	if name == "" || strings.Contains(name, "/") {
		return target{}, usagef("%q is no name of a team", name)
	}
	c, err := a.api()
	return target{kind: k, name: name, api: c}, err
}

func (a *app) teamListCommand() *cobra.Command {
	f := getFlags{}
	cmd := &cobra.Command{
		Use: "list", Short: "Show all teams, for platform admins", Args: words(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		Example:           "  portico team list\n  portico team list -o wide",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.get(cmd.Context(), []string{v1alpha1.KindTeam}, f)
		},
	}
	a.outputFlag(cmd, &f.format, formats)
	return cmd
}

func (a *app) teamGetCommand() *cobra.Command {
	f := getFlags{}
	cmd := &cobra.Command{
		Use: "get TEAM", Short: "Show one team and how it is doing", Args: words(1, 1),
		ValidArgsFunction: a.completeFor(v1alpha1.KindTeam),
		Example:           "  portico team get growth -o yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.get(cmd.Context(), []string{v1alpha1.KindTeam, args[0]}, f)
		},
	}
	a.outputFlag(cmd, &f.format, formats)
	return cmd
}

// createTeamFlags are the flags of the command that creates a Team.
type createTeamFlags struct {
	set, members, accounts []string
	format                 string
	dryRun, wait           bool
	timeout                time.Duration
}

func (a *app) teamCreateCommand() *cobra.Command {
	f := createTeamFlags{}
	cmd := &cobra.Command{
		Use:               "create TEAM",
		Short:             "Make a team, for platform admins",
		Args:              words(1, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Create creates a team with its namespaces: one with the name of the team, unless --set namespaces.0.name=NAME names others. portico
kinds team lists what --set takes. portico apply -f creates a team from a file.`,
		Example: `  portico team create growth --member group:oidc:team-growth=Developer --account development --wait
  portico team create growth --set quotas.resources.0.kind=S3Bucket --set quotas.resources.0.max=10 --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.createTeam(cmd.Context(), args[0], f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.set, "set", nil, "`field=value`, once for each field")
	flags.StringArrayVar(&f.members, "member", nil, "`who=role`, such as group:oidc:growth=Developer, once for "+
		"each member")
	flags.StringArrayVar(&f.accounts, "account", nil, "`name` of an AWSProvider that the team can use; the first is "+
		"its default")
	flags.StringVarP(&f.format, "output", "o", "", "print the team too, in this `format`: "+orList(formats))
	flags.BoolVar(&f.dryRun, "dry-run", false, "check it and show it with its defaults as YAML, but make nothing")
	a.waitFlags(cmd, &f.wait, &f.timeout, "wait until it is Ready")
	a.complete(cmd, "output", formats)
	for _, name := range []string{"set", "member", "account"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions) // the flags are there
	}
	return cmd
}

func (a *app) createTeam(ctx context.Context, name string, f createTeamFlags) error {
	if f.format != "" {
		if err := checkFormat(f.format, formats); err != nil {
			return err
		}
	}
	set, err := f.fields()
	if err != nil {
		return err
	}
	t, err := a.teamTarget(ctx, name)
	if err != nil {
		return err
	}
	obj, err := withSet(t.kind, nil, set)
	if err != nil {
		return err
	}
	obj.SetName(name)
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
	a.say("Made %s.", refOf(t.kind, name))
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

// fields returns the flags as fields of spec, in the format of --set.
func (f createTeamFlags) fields() ([]string, error) {
	set := f.set
	for i, text := range f.members {
		at := strings.LastIndexByte(text, '=')
		if at < 0 {
			return nil, usagef("--member %q: want who=role, such as group:oidc:growth=Developer", text)
		}
		m, err := memberOf(text[:at], text[at+1:])
		if err != nil {
			return nil, err
		}
		set = append(set, fmt.Sprintf("members.%d.%s=%s", i, m.kind, m.name),
			fmt.Sprintf("members.%d.role=%s", i, m.role))
	}
	for i, name := range f.accounts {
		set = append(set, fmt.Sprintf("providers.%d.name=%s", i, name))
		if i == 0 {
			set = append(set, "defaults.provider="+name)
		}
	}
	return set, nil
}

func (a *app) suspendCommand() *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use: "suspend TEAM", Short: "Let the members of a team only look", Args: words(1, 1),
		ValidArgsFunction: a.completeFor(v1alpha1.KindTeam),
		Example:           "  portico team suspend growth\n  portico team suspend growth --yes",
		Long: "Suspend asks first, and then removes all rights of the members but to look. Everything " +
			"keeps running.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				if !a.asks {
					return usagef("portico cannot ask here whether you mean it: add --yes")
				}
				a.say("The members of team %s will only be able to look. Everything keeps running.", clean(args[0]))
				if err := a.confirmed(cmd.Context()); err != nil {
					return err
				}
			}
			return a.setSuspended(cmd.Context(), args[0], true)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) resumeTeamCommand() *cobra.Command {
	return &cobra.Command{
		Use: "resume TEAM", Short: "Give the members of a suspended team their roles back", Args: words(1, 1),
		Example:           "  portico team resume growth",
		ValidArgsFunction: a.completeFor(v1alpha1.KindTeam),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.setSuspended(cmd.Context(), args[0], false)
		},
	}
}

func (a *app) setSuspended(ctx context.Context, name string, on bool) error {
	t, err := a.teamTarget(ctx, name)
	if err != nil {
		return err
	}
	// Any version: only this field is sent.
	changed, err := t.objects().Patch(ctx, name, map[string]any{"spec": map[string]any{"suspended": on}},
		client.PatchOptions{IfMatch: "*"})
	if err != nil {
		return err
	}
	a.warn(changed.Warnings)
	words := "has its members back"
	if on {
		words = "is suspended"
	}
	a.say("%s %s.", refOf(t.kind, name), words)
	return nil
}

func (a *app) deleteTeamCommand() *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use: "delete TEAM", Short: "Delete a team that has no resources, after asking for its name", Args: words(1, 1),
		Example: "  portico team delete growth",
		Long: "Delete takes the rights of its members. Its namespaces stay, with everything in them. A " +
			"team that still has resources is not deleted.",
		ValidArgsFunction: a.completeFor(v1alpha1.KindTeam),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes && !a.asks {
				return usagef("portico cannot ask here whether you mean it: add --yes")
			}
			t, err := a.teamTarget(cmd.Context(), args[0])
			if err == nil {
				_, err = a.delete(cmd.Context(), t, deletion{yes: yes})
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
