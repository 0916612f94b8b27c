package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/version"
	"github.com/portico-platform/portico/cmd/portico/prompt"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

// app is one run of the command.
type app struct {
	world
	kinds     catalog.Catalog         // of the portal, once load has read them
	published []client.KindDefinition // what they are made of
	filled    map[string]bool         // by plural: those that have their fields
	server    string                  // as the flag has it
	namespace string                  // as the flag has it
	plainHTTP bool
	caFile    string            // as the flag has it
	started   bool              // the command line is valid
	transport http.RoundTripper // set by via
	lines     *prompt.Lines     // of in, set by line
}

// run runs the command and returns its exit code.
func run(ctx context.Context, args []string, w world) int {
	a := &app{world: w}
	root := a.root() //nolint:contextcheck // the context comes with Execute
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !a.started {
		err = misread(cmd, err)
	}
	if err = interruptible(ctx, err); err != nil {
		complain(w.err, err)
	}
	return exitCode(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "portico",
		Short: "Request cloud resources for your team, and manage them",
		Long: `portico requests buckets, databases, web apps, hostnames and more, shows their status, and changes or deletes
them: everything that the web portal does, for the terminal and for CI jobs.

Exit codes: 0 done, 1 an error, 2 the command line is wrong, 3 not done in time, 4 a login is needed, 5 no such
resource, 6 no access.`,
		Example: `  portico login https://portal.example.com
  portico request bucket reports -n payments --set providerRef=aws --wait
  portico get
  portico delete bucket reports -n payments`,
		Version:       version.Get().String(),
		SilenceErrors: true, SilenceUsage: true, DisableSuggestions: true, SuggestionsMinimumDistance: 2,
		PersistentPreRun: func(*cobra.Command, []string) { a.started = true },
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	flags := root.PersistentFlags()
	flags.StringVar(&a.server, "server", "", "`address` of the portal; default: $PORTICO_SERVER, else where you "+
		"logged in last")
	flags.StringVarP(&a.namespace, "namespace", "n", "", "`namespace` of your team; default: $PORTICO_NAMESPACE, "+
		"else the only one you have")
	flags.BoolVar(&a.plainHTTP, "plain-http", false, "send the token without TLS to another machine; anyone on the "+
		"network can read it")
	flags.StringVar(&a.caFile, "ca-file", "", "`path` of more certificates to trust; default: $PORTICO_CA_FILE")
	_ = root.MarkPersistentFlagFilename("ca-file", "pem", "crt", "cer")    // the flag is there
	_ = root.RegisterFlagCompletionFunc("namespace", a.completeNamespaces) // the flag is there
	root.AddGroup(&cobra.Group{ID: "use", Title: "Use:"}, &cobra.Group{ID: "look", Title: "Look closer:"},
		&cobra.Group{ID: "session", Title: "Login:"}, &cobra.Group{ID: "admin", Title: "For admins of a cluster:"})
	group(root, "use", a.kindsCommand(), a.getCommand(), a.requestCommand(), a.applyCommand(), a.editCommand(),
		a.waitCommand(), a.deleteCommand())
	group(root, "use", a.actCommands()...)
	group(root, "use", a.scaleCommand(), a.rollbackCommand())
	group(root, "use", a.secretCommand(), a.connectCommand())
	group(root, "use", a.teamCommand())
	group(root, "look", a.describeCommand(), a.eventsCommand(), a.historyCommand(), a.deletedCommand(),
		a.activityCommand(), a.logsCommand())
	group(root, "session", a.loginCommand(), a.logoutCommand(), a.whoamiCommand())
	group(root, "admin", a.sessionsCommand(), a.checkCommand(), a.kindCommand(), a.backupCommand(),
		a.restoreCommand())
	root.AddCommand(a.versionCommand())
	return root
}

func group(root *cobra.Command, id string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = id
	}
	root.AddCommand(commands...)
}

// inNamespace returns the namespace to work in.
func (a *app) inNamespace(ctx context.Context, c *client.Client) (string, error) {
	if ns := cmp.Or(a.namespace, a.env("PORTICO_NAMESPACE")); ns != "" {
		return ns, nil
	}
	me, err := c.GetMe(ctx, client.GetMeOptions{})
	switch {
	case err != nil:
		return "", err
	case len(me.Namespaces) == 1:
		return me.Namespaces[0], nil
	case len(me.Namespaces) == 0:
		return "", usagef("in which namespace? Name it with -n. You have no access to any yet: ask for it first")
	}
	return "", usagef("in which namespace? Name it with -n: you can use %s", orList(me.Namespaces))
}

// mostListed is how many words a sentence lists; it counts the rest.
const mostListed = 10

func orList(words []string) string { return spoken.Or(spoken.Some(words, mostListed)) }

func andList(words []string) string { return spoken.And(spoken.Some(words, mostListed)) }

// say prints a message for people on stderr, because stdout is for programs.
func (a *app) say(format string, args ...any) { _, _ = fmt.Fprintf(a.err, format+"\n", args...) }

// warn prints Kubernetes' warnings.
func (a *app) warn(warnings []string) {
	for _, w := range warnings {
		a.say("Warning: %s", clean(w))
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: words(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.out, "portico", version.Get())
			return err
		},
	}
}
