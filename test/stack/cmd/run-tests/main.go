// Command run-tests runs one suite by go test, and fails when a test fails and
// also when none ran: a build tag with a typing mistake must not look like
// success.
//
//	run-tests -name integration -tag integration -- -p 1
//
// With -tag only the packages that have test files with that build constraint
// run, or the unit tests of all others would run once more. Arguments after the
// flags go to go test.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("run-tests", flag.ContinueOnError)
	name := flags.String("name", "unit", "what to call the suite")
	tag := flags.String("tag", "", "the build tag of its test files")
	if err := flags.Parse(args); err != nil {
		return err
	}
	began := time.Now()
	packages := []string{"./..."}
	arguments := []string{"test", "-json"}
	if *tag != "" {
		var err error
		if packages, err = tagged(os.DirFS("."), *tag); err != nil {
			return err
		}
		arguments = append(arguments, "-tags", *tag)
	}
	arguments = slices.Concat(arguments, flags.Args(), packages)
	_, _ = fmt.Fprintf(out, "\n==> %s tests: go %s\n", *name, strings.Join(arguments, " "))
	r := newReport(out)
	err := stream(ctx, arguments, r)
	_, _ = fmt.Fprintf(out, "==> %s tests: %s in %.0f s\n", *name, r.summary(), time.Since(began).Seconds())
	switch {
	case r.failed > 0 || err != nil:
		return fmt.Errorf("%s tests failed: %w", *name, errors.Join(err, r.names()))
	case r.passed == 0:
		return fmt.Errorf("%s tests: none ran", *name)
	}
	return nil
}

// stream feeds the report with what go test says.
func stream(ctx context.Context, arguments []string, r *report) error {
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	cmd.Stderr = r.out
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return errors.Join(r.read(events), cmd.Wait())
}

// tagged are the folders with test files constrained to the tag.
func tagged(root fs.FS, tag string) ([]string, error) {
	constraint := regexp.MustCompile(`(?m)^//go:build .*\b` + regexp.QuoteMeta(tag) + `\b`)
	found := map[string]bool{}
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		data, err := fs.ReadFile(root, path)
		if err == nil && constraint.Match(data) {
			found["./"+filepath.ToSlash(filepath.Dir(path))] = true
		}
		return err
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no test file has the build tag %s", tag)
	}
	return slices.Sorted(maps.Keys(found)), err
}
