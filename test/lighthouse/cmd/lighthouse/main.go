// Command lighthouse runs Google's Lighthouse on the portal's pages, as a team's developer and as a platform admin, and
// writes its reports. It fails unless every page reaches its goal: 0.95 for performance, which also depends on the
// machine, and 1 for accessibility and best practices.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	measure "github.com/portico-platform/portico/test/campaign"
)

// limit is the timeout of a run.
const limit = 40 * time.Minute

func main() { measure.Main("lighthouse", run) }

func run(ctx context.Context, args []string, out, progress io.Writer) (failed error) {
	flags := flag.NewFlagSet("lighthouse", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	reports := flags.String("reports", ".run/lighthouse", "`folder` for the reports")
	only := flags.String("page", "", "look at the pages whose `name` contains this only")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := os.MkdirAll(*reports, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	w, err := begin(ctx, *root, progress)
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, w.end()) }()
	look := lighthouse{
		program: filepath.Join(*root, "test/lighthouse/node_modules/lighthouse/cli/index.js"),
		port:    w.port, reports: *reports,
	}
	all, err := w.visit(ctx, look, *only, progress)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\n%s\n\n", measure.Machine())
	printTable(out, all)
	_, _ = fmt.Fprintf(out, "\nreports are in %s\n", *reports)
	return verdict(all)
}
