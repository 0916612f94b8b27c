package campaign

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Main runs a measuring program, and exits with 1 if it fails. The first Ctrl-C cancels the context, so that the
// program can stop what it started; a second one exits at once. flag.ErrHelp does not count as a failure.
func Main(name string, run func(ctx context.Context, args []string, out, progress io.Writer) error) {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, restore)
	ctrl.SetLogger(logr.Discard())
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "\n%s: %v\n", name, err)
		os.Exit(1)
	}
}
