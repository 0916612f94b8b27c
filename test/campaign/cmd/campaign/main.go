// Command campaign runs campaigns: benchmarks, failover, restarts, upgrades, chaos and others. Each starts a stack of
// its own on loopback. campaign -list lists the scenarios.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/portico-platform/portico/test/bench/operator"
	"github.com/portico-platform/portico/test/bench/portal"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/chaos"
	"github.com/portico-platform/portico/test/fuzz"
	"github.com/portico-platform/portico/test/ha/failover"
	"github.com/portico-platform/portico/test/ha/restart"
	"github.com/portico-platform/portico/test/lighthouse"
	"github.com/portico-platform/portico/test/upgrade"
)

// table has all campaigns.
func table() campaign.Table {
	return campaign.Table{
		operator.Campaign(), portal.Campaign(), failover.Campaign(), restart.Campaign(),
		lighthouse.Campaign(), upgrade.Campaign(), chaos.Campaign(), fuzz.Campaign(),
	}
}

// main exits with 1 if a campaign fails, and with 130 after Ctrl-C. The first Ctrl-C cancels the context, so that a
// campaign can stop what it started; a second one exits at once.
func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, restore)
	ctrl.SetLogger(logr.Discard())
	forgetAWS()
	err := run(ctx, table(), os.Args[1:], os.Stdout, os.Stderr)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "\ncampaign:", err)
	if ctx.Err() != nil {
		os.Exit(130) // as shells do
	}
	os.Exit(1)
}

// forgetAWS removes the caller's AWS variables from the environment, so that neither this process nor an operator uses
// them.
func forgetAWS() {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			_ = os.Unsetenv(name) // fails only for invalid names
		}
	}
}

func run(ctx context.Context, all campaign.Table, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("campaign", flag.ContinueOnError)
	flags.SetOutput(progress)
	root := flags.String("root", ".", "the repository")
	list := flags.Bool("list", false, "list the scenarios, with about how long each takes, and run none")
	var patterns []string
	flags.Func("run", "run the scenarios whose names match this `pattern`, a regular expression; can be repeated",
		func(pattern string) error {
			patterns = append(patterns, pattern)
			return nil
		})
	all.Define(flags)
	flags.Usage = func() {
		_, _ = fmt.Fprintf(progress, "campaign -run pattern runs scenarios, with a stack of their own on loopback:\n\n")
		all.Print(progress)
		_, _ = fmt.Fprintf(progress, "\nFlags; those of a campaign begin with its name:\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; see campaign -help", flags.Arg(0))
	case *list:
		all.Print(out)
		return nil
	case len(patterns) == 0:
		flags.Usage()
		return errors.New("-run is missing")
	}
	path, err := filepath.Abs(*root) // processes run in other folders
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%s\n", campaign.Machine())
	return all.Run(ctx, patterns, campaign.Run{Root: path, Out: out, Progress: progress})
}
