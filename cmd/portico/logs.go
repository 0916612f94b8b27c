package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

func (a *app) logsCommand() *cobra.Command {
	opts, follow := client.LogsOptions{}, false
	cmd := &cobra.Command{
		Use: "logs NAME", Short: "Print the log of a web app", Args: words(1, 2),
		Long: "Logs prints the last lines of one Pod of a web app: of the newest one, if none is named. If it has no " +
			"log, the command fails and says why, such as that no node has room for the Pod. With --follow it " +
			"says so and waits for the log, unless the Pod has ended.",
		Example:           "  portico logs shop -n payments -f\n  portico logs shop -n payments --tail 1000 --previous",
		ValidArgsFunction: a.completeFor(catalog.AppKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.logs(cmd.Context(), args, opts, follow)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&follow, "follow", "f", false, "go on with what is written, until the container ends or you "+
		"interrupt it")
	flags.StringVar(&opts.Pod, "pod", "", "`name` of the Pod; default: the newest")
	flags.StringVarP(&opts.Container, "container", "c", "", "`name` of the container; default: that of the web app")
	flags.Int64Var(&opts.Tail, "tail", 200, "how `many` of the last lines, 5000 at most")
	flags.BoolVar(&opts.Previous, "previous", false, "of the run before the last restart")
	flags.BoolVar(&opts.Timestamps, "timestamps", false, "with the time in front of each line")
	return cmd
}

func (a *app) logs(ctx context.Context, args []string, opts client.LogsOptions, follow bool) error {
	t, err := a.targetOf(ctx, catalog.AppKind, args)
	if err != nil {
		return err
	}
	if follow {
		return a.followLog(t.objects().FollowLogs(ctx, t.name, opts))
	}
	text, err := t.objects().Logs(ctx, t.name, opts)
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.out, text)
	return err
}

func (a *app) followLog(parts iter.Seq2[client.LogPart, error]) error {
	begun := false
	for part, err := range parts {
		if _, away := errors.AsType[*client.UnreachableError](err); begun && away {
			return fmt.Errorf("the connection to the log ended: %w; run the command again to continue", err)
		}
		begun = true
		switch {
		case err != nil:
			return err
		case part.End == "lost":
			return errors.New(part.Message)
		case part.End != "":
			a.say("%s", clean(part.Message))
		case part.Waiting != "":
			a.say("%s", clean(part.Waiting))
		default:
			if _, err := io.WriteString(a.out, strings.Join(part.Lines, "\n")+"\n"); err != nil {
				return err
			}
		}
	}
	return nil
}
