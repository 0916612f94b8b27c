package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/cmd/portico/session"
	"github.com/portico-platform/portico/portal/client"
)

func (a *app) loginCommand() *cobra.Command {
	var how loginHow
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:               "login [SERVER]",
		Short:             "Log in at a portal",
		Args:              words(0, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Login opens a browser to sign you in where the portal does. Where there is none, such as over SSH, it prints an address and a
code for a browser elsewhere. The portal is remembered for all other commands.

With --ci a job of GitHub Actions or GitLab CI logs in by the token that its CI system gives it, as a deployer of a Team: no
secret is stored at the CI system. A job of GitHub Actions needs the permission id-token: write, one of GitLab CI an id_token
PORTICO_ID_TOKEN. The login is renewed while the job runs.

Other programs need no login: they set PORTICO_SERVER, and PORTICO_TOKEN to a token, such as that of a ServiceAccount, or
PORTICO_TOKEN_FILE to a file that has it.`,
		Example: "  portico login https://portal.example.com\n  portico login https://portal.example.com --device\n" +
			"  portico login https://portal.example.com --ci\n" +
			"  portico login https://portal.example.com --ci --deployer payments/release",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if a.server != "" && normal(a.server) != normal(args[0]) {
					return usagef("log in at %s or at --server %s: leave one out", args[0], a.server)
				}
				a.server = args[0]
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			err := a.loginBy(ctx, how)
			if err != nil && ctx.Err() != nil && cmd.Context().Err() == nil {
				return &timeoutError{fmt.Sprintf("nobody logged in within %s: try again", timeout)}
			}
			return err
		},
	}
	loginFlags(cmd, &how, &timeout)
	return cmd
}

// askHowToLogIn returns the portal, how it says that tools log in, and the transport to it.
func (a *app) askHowToLogIn(ctx context.Context) (
	server string, known *client.Login, via http.RoundTripper, err error,
) {
	if server, err = a.address(); err != nil {
		return "", nil, nil, usagef("at which portal? Name it, such as portico login https://portal.example.com")
	}
	c, err := a.clientOf(server, nil)
	if err != nil {
		return "", nil, nil, err
	}
	if known, err = c.GetLogin(ctx); err != nil {
		return "", nil, nil, fmt.Errorf("asking %s how to log in: %w", server, err)
	}
	via, err = a.via()
	return server, known, via, err
}

func (a *app) login(ctx context.Context, device bool) error {
	server, known, via, err := a.askHowToLogIn(ctx)
	if err != nil {
		return err
	}
	if known.ClientID == "" {
		return fmt.Errorf("%s has no login for the command line: set PORTICO_TOKEN to a token for %s, or ask its "+
			"admins for --cli-client-id",
			server, strings.Join(known.Audiences, " or "))
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

// loginHow are the flags of a login.
type loginHow struct {
	device, ci         bool
	deployer, audience string
}

func loginFlags(cmd *cobra.Command, how *loginHow, timeout *time.Duration) {
	cmd.Flags().BoolVar(&how.device, "device", false, "print an address and a code even if there is a browser here")
	cmd.Flags().BoolVar(&how.ci, "ci", false, "log in as a CI job, by the token that the CI system gives it")
	cmd.Flags().StringVar(&how.deployer, "deployer", "", "with --ci, the deployer as `team/name`, where the token "+
		"fits several")
	cmd.Flags().StringVar(&how.audience, "audience", "", "with --ci, the `URL` that the job's token must be for, if "+
		"the portal has another one than SERVER")
	cmd.Flags().DurationVar(timeout, "timeout", defaultTimeout, "the longest wait for you, a `duration` such as "+
		"30s, 10m or 2h")
}

// loginBy logs in as a person, or as a CI job.
func (a *app) loginBy(ctx context.Context, how loginHow) error {
	switch {
	case how.device && how.ci:
		return usagef("--device is for people and --ci for jobs: leave one out")
	case (how.deployer != "" || how.audience != "") && !how.ci:
		return usagef("--deployer and --audience are for --ci")
	case how.ci:
		return a.loginJob(ctx, how.deployer, how.audience)
	}
	return a.login(ctx, how.device)
}

// loginJob logs in as a CI job.
func (a *app) loginJob(ctx context.Context, deployer, audience string) error {
	server, known, via, err := a.askHowToLogIn(ctx)
	if err != nil {
		return err
	}
	// The server must not choose the audience: it could ask for a token for somebody else, and gets it.
	if audience = cmp.Or(audience, server); known.JobAudience != audience {
		return &session.JobError{
			Why: fmt.Sprintf("%s asks for a token for the audience %q, which is not its address, and could use "+
				"it there: log in at the portal's own URL, or name the audience with --audience if your platform "+
				"team says so", server, known.JobAudience),
		}
	}
	j := session.Job{
		Server: server, Audience: audience, Deployer: deployer, Env: a.env, Via: via, Clock: a.clock,
	}
	store := a.store()
	s, err := j.Run(ctx, &store)
	if err != nil {
		return err
	}
	a.say("Logged in at %s as deployer %s, for %s.", server, clean(s.Job.Name), clean(s.Job.Run))
	return nil
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
