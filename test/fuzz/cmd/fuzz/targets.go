package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"time"
)

// target is a fuzz target of Go.
type target struct{ folder, name string }

var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// findTargets are all that test files declare.
func findTargets(root fs.FS) ([]target, error) {
	var all []target
	err := fs.WalkDir(root, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && at != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "bin") {
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

// targets runs each of them for a while. What one finds, Go keeps in testdata/fuzz beside it: from then on it is a test.
func (j job) targets(ctx context.Context) error {
	all, err := findTargets(os.DirFS(j.root))
	if err != nil {
		return err
	}
	var found []error
	for i, t := range all {
		j.say("\n==> %d of %d fuzz targets: %s in %s, %s", i+1, len(all), t.name, t.folder, j.each)
		cmd := exec.CommandContext(ctx, "go", "test", "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+j.each.String(), "./"+t.folder)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = time.Minute
		cmd.Dir, cmd.Stdout, cmd.Stderr = j.root, j.out, j.out
		if err := cmd.Run(); err != nil && ctx.Err() == nil {
			found = append(found, fmt.Errorf("%s in %s found something: go test -run=%s ./%s repeats it, by the file that it wrote to testdata/fuzz (%w)",
				t.name, t.folder, t.name, t.folder, err))
		}
	}
	return errors.Join(found...)
}
