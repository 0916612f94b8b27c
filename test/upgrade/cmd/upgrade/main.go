// Command upgrade upgrades a whole installation and rolls it back. It installs the baseline with an object of every
// kind but DatabaseUser and Team, upgrades to this tree with only portico check --fix in between, and returns to the
// baseline. It fails unless throughout AWS receives no write, everything stays Ready, no user's object changes, and the
// portal answers every request.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"

	measure "github.com/portico-platform/portico/test/campaign"
)

func main() { measure.Main("upgrade", run) }

func run(ctx context.Context, args []string, out, progress io.Writer) (failed error) {
	flags := flag.NewFlagSet("upgrade", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	from := flags.String("from", "", "the `commit` to upgrade from; default: what test/upgrade/baseline says")
	with := flags.String("with", "helm", "what installs: helm or kubectl")
	rounds := flags.Int("rounds", 3, "how `often` every object is looked at after each step")
	if err := flags.Parse(args); err != nil {
		return err
	}
	path, err := filepath.Abs(*root) // processes run in other folders
	if err != nil {
		return err
	}
	old, err := baseline(ctx, path, *from, progress)
	if err != nil {
		return err
	}
	c, err := begin(ctx, path, old, *with, *rounds, progress)
	if err != nil {
		return err
	}
	defer func() {
		if failed != nil {
			c.stack.KeepLogs()
			failed = fmt.Errorf("%w (logs are in %s)", failed, c.stack.Dir)
		}
		failed = errors.Join(failed, c.stack.Close())
	}()
	_, _ = fmt.Fprintf(out, "\n%s\nfrom %s to this tree and back, with %s\n", measure.Machine(), old.commit, *with)
	err = c.campaign(ctx)
	c.table.print(out)
	return err
}
