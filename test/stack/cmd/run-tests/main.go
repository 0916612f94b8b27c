// Command run-tests runs one suite with go test. It fails when a test fails and also when no test ran: a mistyped
// build tag must not look like success.
//
//	run-tests -name browser -tag browser -- -p=1
//	run-tests -name integration -tag integration -processes 3 -split test/integration -- -race
//
// With -tag only the packages that have test files with that build constraint run, otherwise the unit tests of all
// others would run again; with -in only some folders. Arguments after the flags go to go test; with -processes, to
// the test binaries.
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

// gcPercent is GOGC of the tests and all that they start. Control planes and test binaries live for minutes and
// machines have memory to spare: with the default, collections take an eighth of a suite's CPU time.
const gcPercent = "400"

func main() {
	if os.Getenv("GOGC") == "" {
		_ = os.Setenv("GOGC", gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A suite is a set of tests that run together.
type suite struct {
	name     string
	packages []string // folders, or ./...
	flags    []string // of go test
	tag      string
	// processes is how many test binaries run in parallel, of packages and of parts of the package split; 0 leaves
	// that to go test, which does not split a package.
	processes int
	split     string
}

func parse(args []string) (s suite, err error) {
	flags := flag.NewFlagSet("run-tests", flag.ContinueOnError)
	flags.StringVar(&s.name, "name", "unit", "what to call the suite")
	flags.StringVar(&s.tag, "tag", "", "the build tag of its test files")
	in := flags.String("in", "", "the folders of the packages, separated by blanks; none: all")
	flags.IntVar(&s.processes, "processes", 0, "how many test binaries run at a time; 0 leaves that to go test")
	flags.StringVar(&s.split, "split", "", "the folder of the package whose tests are dealt to parts, two for each "+
		"process")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if s.split != "" && s.processes == 0 || s.processes > 0 && s.tag == "" {
		return s, errors.New("-split needs -processes, and -processes needs -tag")
	}
	s.packages, s.flags = []string{"./..."}, flags.Args()
	switch {
	case *in != "":
		s.packages = strings.Fields(*in)
	case s.tag != "":
		s.packages, err = tagged(os.DirFS("."), s.tag)
	}
	return s, err
}

func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	began := time.Now()
	r := newReport(out)
	r.measures = s.alone()
	r.say("\n==> %s tests: go test %s\n", s.name, strings.Join(s.arguments(), " "))
	if s.processes > 0 {
		err = s.apart(ctx, r)
	} else {
		err = stream(exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-json"}, s.arguments())...), r)
	}
	r.say("the slowest, in seconds: %s\n", r.slowest(20))
	file := filepath.Join(".run", "times-"+s.name+".tsv")
	if err := r.write(file); err != nil {
		r.say("the times of all tests are not kept: %v\n", err)
	}
	if cpu := r.processors(); cpu != "" {
		r.say("processor time, in seconds: %s\n", cpu)
	}
	r.say("==> %s tests: %s in %.0f s\n", s.name, r.summary(), time.Since(began).Seconds())
	switch {
	case r.failed > 0 || err != nil:
		return fmt.Errorf("%s tests failed: %w", s.name, errors.Join(err, r.names()))
	case r.passed == 0:
		return fmt.Errorf("%s tests: none ran", s.name)
	}
	return nil
}

// alone reports whether each command runs one package at a time, so that what it uses is used by one test.
func (s suite) alone() bool {
	return s.processes > 0 || len(s.packages) == 1 && !strings.HasSuffix(s.packages[0], "...")
}

// arguments returns the arguments of go test.
func (s suite) arguments() []string {
	if s.tag == "" {
		return slices.Concat(s.flags, s.packages)
	}
	return slices.Concat([]string{"-tags", s.tag}, s.flags, s.packages)
}

// stream feeds the report with a command's output in the format of go test -json. Cancelling the command's context
// interrupts it and everything that it started.
func stream(cmd *exec.Cmd, r *report) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = time.Minute
	cmd.Stderr = r
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return errors.Join(r.read(events, cmd.Process.Pid), cmd.Wait())
}

// tagged returns the folders with test files constrained to the tag.
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
