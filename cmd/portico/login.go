package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/cmd/portico/session"
	"github.com/portico-platform/portico/portal/client"
)

func (a *app) loginCommand() *cobra.Command {
	var device bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "login [SERVER]", Short: "Log in at a portal", Args: words(0, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Login opens a browser to sign you in where the portal does. Where there is none, such as over SSH, it prints an address and a
code for a browser elsewhere. The portal is remembered for all other commands.

CI jobs need no login: they set PORTICO_SERVER, and PORTICO_TOKEN to a token, such as that of a ServiceAccount, or
PORTICO_TOKEN_FILE to a file that has it.`,
		Example: "  portico login https://portal.example.com\n  portico login https://portal.example.com --device",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if a.server != "" && normal(a.server) != normal(args[0]) {
					return usagef("log in at %s or at --server %s: leave one out", args[0], a.server)
				}
				a.server = args[0]
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			err := a.login(ctx, device)
			if err != nil && ctx.Err() != nil && cmd.Context().Err() == nil {
				return &timeoutError{fmt.Sprintf("nobody logged in within %s: try again", timeout)}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&device, "device", false, "print an address and a code even if there is a browser here")
	cmd.Flags().DurationVar(&timeout, "timeout", defaultTimeout, "the longest wait for you, a `duration` such as "+
		"30s, 10m or 2h")
	return cmd
}

func (a *app) login(ctx context.Context, device bool) error {
	server, err := a.address()
	if err != nil {
		return usagef("at which portal? Name it, such as portico login https://portal.example.com")
	}
	c, err := a.clientOf(server, nil)
	if err != nil {
		return err
	}
	known, err := c.GetLogin(ctx)
	if err != nil {
		return fmt.Errorf("asking %s how to log in: %w", server, err)
	}
	if known.ClientID == "" {
		return fmt.Errorf("%s has no login for the command line: set PORTICO_TOKEN to a token for %s, or ask its "+
			"admins for --cli-client-id",
			server, strings.Join(known.Audiences, " or "))
	}
	via, err := a.via()
	if err != nil {
		return err
	}
	l := session.Login{Server: server, Store: a.store(), Say: a.err, Via: via, Settings: session.Settings{
		Issuer: known.Issuer, ClientID: known.ClientID, Scopes: known.Scopes, Audiences: known.Audiences,
	}}
	if !device {
		l.Open = a.open
	}
	s, err := l.Run(ctx)
	if err != nil {
		return err
	}
	return a.greet(ctx, server, s)
}

// greet prints who is logged in, which also shows that the portal accepts the token.
func (a *app) greet(ctx context.Context, server string, s *session.Session) error {
	c, err := a.clientOf(server, func(context.Context) (string, error) { return s.IDToken, nil })
	if err != nil {
		return err
	}
	me, err := c.GetMe(ctx, client.GetMeOptions{})
	if err != nil {
		return fmt.Errorf("you are logged in, but %s does not take the token: %w", server, err)
	}
	a.say("Logged in at %s as %s.", server, clean(me.Username))
	if a.env("PORTICO_TOKEN") != "" || a.env("PORTICO_TOKEN_FILE") != "" {
		a.say("Warning: PORTICO_TOKEN or PORTICO_TOKEN_FILE is set, and goes before this login.")
	}
	return nil
}

func (a *app) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Forget the login at a portal", Args: words(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			server, err := a.address()
			if err != nil {
				return err
			}
			via, err := a.via()
			if err != nil {
				return err
			}
			was, err := session.Logout(cmd.Context(), a.store(), server, via)
			switch {
			case err != nil:
				return err
			case !was:
				a.say("You were not logged in at %s.", server)
			default:
				a.say("Logged out at %s.", server)
			}
			return nil
		},
	}
}

func (a *app) whoamiCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "whoami", Short: "Show who you are at the portal, and which namespaces you can use", Args: words(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.api()
			if err != nil {
				return err
			}
			me, err := c.GetMe(cmd.Context(), client.GetMeOptions{})
			if err != nil {
				return err
			}
			if format != "table" {
				return a.encode(format, me)
			}
			server, err := a.address()
			if err != nil {
				return err
			}
			var b strings.Builder
			for _, l := range [][2]string{
				{"Portal", server},
				{"User", me.Username},
				{"Name", me.Name},
				{"Groups", strings.Join(me.Groups, ", ")},
				{"Namespaces", strings.Join(me.Namespaces, ", ")},
			} {
				if l[1] != "" {
					_, _ = fmt.Fprintf(&b, "%-12s%s\n", l[0]+":", clean(l[1]))
				}
			}
			_, err = fmt.Fprint(a.out, b.String())
			return err
		},
	}
	a.outputFlag(cmd, &format, plainFormats)
	return cmd
}
