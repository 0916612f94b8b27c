package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/portal/client"
)

// sessionsCommand returns the commands about the sessions of users.
func (a *app) sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "sessions", Short: "End the sessions of a user", Args: words(0, 0),
		Long: `Use it when somebody leaves, loses a laptop, or has a token that others may know. You need the ClusterRole portico-admin. The portal
has a page for it, too.`,
		Example:           "  portico sessions end oidc:jo@example.com",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.endSessionsCommand())
	return cmd
}

func (a *app) endSessionsCommand() *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use: "end USER", Short: "End all sessions of a user, after asking", Args: words(1, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `End signs a user out of the portal in every browser. Within seconds the portal also refuses the tokens that the user has for the REST
API and this command. USER is the username that portico whoami shows to the user, and the portal's log has as actor; you can leave
out the prefix.

The user can sign in again: block the account at the identity provider first. End does not change what the user can do with
kubectl: remove them from their teams for that.`,
		Example: "  portico sessions end oidc:jo@example.com\n  portico sessions end oidc:jo@example.com --yes",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.endSessions(cmd.Context(), args[0], yes) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) endSessions(ctx context.Context, user string, yes bool) error {
	if !yes && !a.asks {
		return usagef("portico cannot ask here whether you mean it: add --yes")
	}
	c, err := a.api()
	if err != nil {
		return err
	}
	if !yes {
		would, err := c.EndSessions(ctx, client.EndSessionsOptions{User: user, DryRun: dryRun})
		if err != nil {
			return err
		}
		a.say("%s will be signed out of the portal everywhere, and tokens issued until now will be refused. Who is "+
			"not blocked at the identity provider can sign in again; kubectl goes on working.", clean(would.User))
		if err := a.confirmed(ctx); err != nil {
			return err
		}
	}
	ended, err := c.EndSessions(ctx, client.EndSessionsOptions{User: user})
	if err != nil {
		return err
	}
	a.say("The sessions of %s have ended. What is open ends within seconds.", clean(ended.User))
	return nil
}
