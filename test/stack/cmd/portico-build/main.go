// Command portico-build builds and downloads what make run and the tests need. It is the first program that a new
// clone compiles, so it imports little.
//
//	portico-build run,chart
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/portico-platform/portico/test/stack/build"
)

func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, restore) // a second Ctrl-C ends it at once
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "portico-build:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: portico-build PURPOSE[,PURPOSE]...\npurposes are run, chart, browser, fuzz, web, " +
			"lint, monitoring, node, oldest, idp, compat, others")
	}
	var targets []build.Target
	for purpose := range strings.SplitSeq(args[0], ",") {
		more, err := build.For(purpose, env)
		if err != nil {
			return err
		}
		targets = append(targets, more...)
	}
	return build.Build(ctx, ".", targets, out)
}
