// Command fuzz throws what nobody would send at Portico, for a few minutes: requests at the REST API of a real portal,
// made by schemathesis from the OpenAPI document, and bytes at every fuzz target of Go. It fails if either finds
// something. Nothing but loopback is asked.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// job is what is to be fuzzed, and for how long.
type job struct {
	root string
	seed uint32
	// rest is how long requests are sent, each how long a target of Go runs; 0 leaves them out.
	rest, each time.Duration
	out        io.Writer
}

func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, restore) // a second Ctrl-C ends everything at once
	ctrl.SetLogger(logr.Discard())
	err := run(ctx, os.Args[1:], os.Stdout)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "\nfuzz:", err)
	if ctx.Err() != nil {
		os.Exit(130) // as shells have it
	}
	os.Exit(1)
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	seed := flags.Uint("seed", uint(rand.Uint32N(1<<31)), "of the requests; default: another one each time")
	rest := flags.Duration("rest", 150*time.Second, "for how long requests are sent to the REST API; 0 leaves it out")
	each := flags.Duration("each", 10*time.Second, "for how long each fuzz target of Go runs; 0 leaves them out")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; see fuzz -help", flags.Arg(0))
	}
	if *rest < 0 || *each < 0 || *rest%time.Second != 0 || *each%time.Second != 0 {
		return fmt.Errorf("-rest %s -each %s: want whole seconds, such as 90s", *rest, *each)
	}
	path, err := filepath.Abs(*root)
	if err != nil {
		return err
	}
	j := job{root: path, seed: uint32(*seed), rest: *rest, each: *each, out: out}
	j.say("The seed is %d: SEED=%d make fuzz sends the same requests.", j.seed, j.seed)
	return j.run(ctx)
}

// run does both parts, whatever the first finds.
func (j job) run(ctx context.Context) error {
	began := time.Now()
	var found error
	if j.each > 0 {
		found = j.targets(ctx)
	}
	if j.rest > 0 && ctx.Err() == nil {
		found = errors.Join(found, j.requests(ctx))
	}
	if ctx.Err() != nil {
		return errors.Join(found, fmt.Errorf("%w: it did not come to its end", context.Cause(ctx)))
	}
	if found == nil {
		j.say("\nNothing was found, in %.0f s.", time.Since(began).Seconds())
	}
	return found
}

func (j job) say(format string, args ...any) { _, _ = fmt.Fprintf(j.out, format+"\n", args...) }
