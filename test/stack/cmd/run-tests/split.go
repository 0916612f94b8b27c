package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// A job is one process of a test binary: all tests of a package, or a part of them.
type job struct {
	name   string // of the package, and its part
	dir    string
	binary string
	skip   []string // the tests that other parts run
}

// partsOfProcess is how many parts of the split package each process runs, one after the other: with more parts, less
// time is lost at the end to the process that got the slow tests, but each part starts its own control plane.
const partsOfProcess = 2

// jobs builds the packages' test binaries into the folder. The tests of the split package are distributed over parts,
// which come last because there are many, so that all processes end at about the same time.
func (s suite) jobs(ctx context.Context, folder string, r *report) ([]job, error) {
	arguments := slices.Concat(
		[]string{"test", "-json", "-c", "-ldflags=-s -w", "-o", folder + string(filepath.Separator)}, s.arguments())
	if err := stream(exec.CommandContext(ctx, "go", arguments...), r); err != nil {
		return nil, err
	}
	var parts, others []job
	for _, dir := range s.packages {
		whole := job{
			name: strings.TrimPrefix(dir, "./"), dir: dir,
			binary: filepath.Join(folder, filepath.Base(dir)+".test"),
		}
		if whole.name != s.split {
			others = append(others, whole)
			continue
		}
		tests, err := testsIn(dir)
		if err != nil {
			return nil, err
		}
		parts = whole.deal(tests, partsOfProcess*s.processes)
	}
	if s.split != "" && parts == nil {
		return nil, fmt.Errorf("-split %s: no package of this suite is there", s.split)
	}
	return append(others, parts...), nil
}

// deal returns the job as the given number of parts. Each part skips the tests of the others, rather than naming its
// own: a test that is not listed runs in every part, and none is lost.
func (j job) deal(tests []string, parts int) []job {
	var all []job
	for part := range parts {
		one := j
		one.name = fmt.Sprintf("%s (%d of %d)", j.name, part+1, parts)
		for i, test := range tests {
			if i%parts != part {
				one.skip = append(one.skip, test)
			}
		}
		all = append(all, one)
	}
	return all
}

// testsIn returns the names of a folder's tests, in the order in which they run.
func testsIn(dir string) ([]string, error) {
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go")) // sorted, as go test does
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			return nil, err
		}
		for _, found := range declared.FindAllSubmatch(text, -1) {
			if name := string(found[1]); name != "TestMain" {
				names = append(names, name)
			}
		}
	}
	return names, err
}

// run runs the process as go test does: in the package's folder, its output as events.
func (j job) run(ctx context.Context, arguments []string, r *report) error {
	words := []string{"tool", "test2json", "-t", "-p", j.name, j.binary, "-test.v=test2json", "-test.paniconexit0"}
	for _, argument := range arguments {
		if argument != "-race" { // that flag is for the compiler
			words = append(words, "-test."+strings.TrimLeft(argument, "-"))
		}
	}
	if len(j.skip) > 0 {
		words = append(words, "-test.skip=^("+strings.Join(j.skip, "|")+")$")
	}
	cmd := exec.CommandContext(ctx, "go", words...)
	cmd.Dir = j.dir
	return stream(cmd, r)
}

// apart runs the suite's packages, and the parts of one, in separate processes, a given number in parallel: for tests
// that wait rather than compute, such as those with their own control plane.
func (s suite) apart(ctx context.Context, r *report) error {
	folder, err := os.MkdirTemp("", "run-tests-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	began := time.Now()
	jobs, err := s.jobs(ctx, folder, r)
	if err != nil {
		return err
	}
	r.say("==> %s tests: compiled in %.0f s\n", s.name, time.Since(began).Seconds())
	var g errgroup.Group
	g.SetLimit(s.processes)
	failures := make([]error, len(jobs))
	for i, j := range jobs {
		g.Go(func() error {
			began := time.Now()
			if err := j.run(ctx, s.flags, r); err != nil {
				r.died(j.name, time.Since(began))
				failures[i] = fmt.Errorf("%s: %w", j.name, err)
			}
			return nil // the others continue
		})
	}
	_ = g.Wait()
	return errors.Join(failures...)
}
