package fuzz

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// target is a Go fuzz target.
type target struct{ folder, name string }

var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// findTargets returns all fuzz targets in test files.
func findTargets(root fs.FS) ([]target, error) {
	var all []target
	err := fs.WalkDir(root, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && at != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" ||
			d.Name() == "bin") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(at, "_test.go") {
			return nil
		}
		data, err := fs.ReadFile(root, at)
		for _, m := range declaration.FindAllStringSubmatch(string(data), -1) {
			all = append(all, target{path.Dir(at), m[1]})
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = errors.New("there is no fuzz target of Go")
	}
	return all, err
}

// targets compiles the targets, and runs each for a while.
func (j job) targets(ctx context.Context) error {
	all, err := findTargets(os.DirFS(j.root))
	if err != nil {
		return err
	}
	if err := j.compile(ctx, all); err != nil {
		return err
	}
	var found []error
	for i, t := range all {
		if ctx.Err() != nil {
			break
		}
		j.say("\n==> %d of %d fuzz targets: %s in %s, %s", i+1, len(all), t.name, t.folder, j.each)
		found = append(found, j.fuzz(ctx, t))
	}
	return errors.Join(found...)
}

// compiled returns the path of a folder's test binary, which is instrumented for fuzzing, and that of the corpus which
// its targets have generated and the next run starts with.
func (j job) compiled(folder string) (binary, seen string) {
	at := filepath.Join(j.root, ".cache", "fuzz", filepath.FromSlash(folder))
	return filepath.Join(at, "fuzz.test"), filepath.Join(at, "seen")
}

// compile compiles the test binaries and prints the time of each, which does not count as fuzzing: the first time, Go
// compiles everything that the targets import.
func (j job) compile(ctx context.Context, all []target) error {
	folders := make([]string, 0, len(all))
	for _, t := range all {
		folders = append(folders, t.folder)
	}
	folders = slices.Compact(folders)
	j.say("\n==> compiling %d packages to be fuzzed; several minutes the first time", len(folders))
	for _, folder := range folders {
		began := time.Now()
		binary, _ := j.compiled(folder)
		cmd := j.command(ctx, j.root, "go", "test", "-c", "-vet=off", "-fuzz=.", "-o", binary, "./"+folder)
		err := cmd.Run()
		switch {
		case err == nil:
			j.say("%-24s compiled in %.1f s", folder, time.Since(began).Seconds())
		case ctx.Err() == nil:
			return fmt.Errorf("%s does not compile (%w); its first errors are above", folder, err)
		}
	}
	return nil
}

// fuzz runs one target. Go stores a failing input in testdata/fuzz next to it, where it is a test from then on.
func (j job) fuzz(ctx context.Context, t target) error {
	folder := filepath.Join(j.root, filepath.FromSlash(t.folder))
	before := inputs(folder, t.name)
	binary, seen := j.compiled(t.folder)
	if err := forget(filepath.Join(seen, t.name), mostSeen, mostBytes); err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := j.command(ctx, folder, binary, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+j.each.String(),
		"-test.fuzzminimizetime=1s", "-test.fuzzcachedir="+seen, "-test.paniconexit0")
	both := io.MultiWriter(j.out, &said)
	cmd.Stdout, cmd.Stderr = both, both
	err := cmd.Run()
	if err == nil || ctx.Err() != nil {
		return nil //nolint:nilerr // that it did not come to its end is told once, for all
	}
	for _, input := range inputs(folder, t.name) {
		if !slices.Contains(before, input) {
			return fmt.Errorf("%s in %s found something (%w), and wrote what to %s/testdata/fuzz/%s/%s: mend it, and "+
				"commit that file, which from now on is a test.\nTo repeat it: go test -run='^%s$/^%s$' ./%s", t.name,
				t.folder, err, t.folder, t.name, input, t.name, input, t.folder)
		}
	}
	if timeIsUp(said.String()) {
		j.say("Its time was up, which is no failure, whatever it says above.")
		return nil
	}
	return fmt.Errorf("%s in %s failed, as told above (%w), and wrote no input: one that is known fails.\nTo repeat "+
		"it: go test -run='^%s$' ./%s",
		t.name, t.folder, err, t.name, t.folder)
}

// timeIsUp reports whether the output of a target that wrote no input says that its time was over, which Go 1.26
// sometimes treats as a failure (golang/go#75804).
func timeIsUp(said string) bool {
	return strings.Contains(said, "context deadline exceeded") &&
		!strings.Contains(said, "failure while testing seed corpus")
}

// inputs returns the names of a target's inputs that are stored as tests.
func inputs(folder, name string) []string {
	entries, _ := os.ReadDir(filepath.Join(folder, "testdata", "fuzz", name)) // most targets have none
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// command returns a command whose output goes to the job's. When ctx ends it is interrupted, not killed, so that it can
// stop what it started.
func (j job) command(ctx context.Context, folder, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, j.out, j.out
	return cmd
}
