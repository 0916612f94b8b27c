package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// program is a main package of a Go module.
type program struct {
	module  string // folder of the go.mod, relative to the root
	pkg     string
	ldflags string
	tags    string
	cgo     bool
	// version is how to query an installed program for its version. Without it, Portico's own build is always used.
	version *versionOf
}

// batch is one run of go build: a module's programs share most packages, and one is linked while others are still
// compiled.
type batch struct {
	program // the common fields; pkg is unused
	targets []Target
}

// batches groups the programs by module, in the order of the first of each.
func batches(programs []Target) []*batch {
	var all []*batch
	byKind := map[program]*batch{}
	for _, t := range programs {
		kind := *t.program
		kind.pkg, kind.version = "", nil
		if byKind[kind] == nil {
			byKind[kind] = &batch{program: kind}
			all = append(all, byKind[kind])
		}
		byKind[kind].targets = append(byKind[kind].targets, t)
	}
	return all
}

func (b *batch) name() string {
	var names []string
	for _, t := range b.targets {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

func (b *batch) arguments(verb ...string) []string {
	args := append(slices.Clone(verb), "-trimpath")
	if b.tags != "" {
		args = append(args, "-tags="+b.tags)
	}
	if b.ldflags != "" {
		args = append(args, "-ldflags="+b.ldflags)
	}
	for _, t := range b.targets {
		args = append(args, t.program.pkg)
	}
	return args
}

// command returns a tool's command with the environment for building Portico's programs.
func command(ctx context.Context, dir string, log io.Writer, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = log, log
	return cmd
}

// surveyAfter is how long a build runs before its size is determined: most builds are finished by then, because
// little has changed.
const surveyAfter = 2 * time.Second

// compile builds all programs.
func (b *builder) compile(ctx context.Context, programs []Target) error {
	all := batches(programs)
	surveying, enough := context.WithCancel(ctx)
	var survey sync.WaitGroup
	survey.Go(func() { b.survey(surveying, all) })
	defer survey.Wait()
	defer enough()
	for _, batch := range all {
		if err := b.build(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// packageLine is the template with which survey lists packages that are not compiled yet.
const packageLine = `{{if .Stale}}{{.ImportPath}}{{"\t"}}{{.Name}}{{"\t"}}{{.Dir}}{{range .GoFiles}}{{"\t"}}{{.}}{{end}}{{end}}`

// survey asks the go command what it has to compile, so that the remaining time can be estimated. It ignores errors:
// they show in the build itself.
func (b *builder) survey(ctx context.Context, all []*batch) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(surveyAfter):
	}
	for _, batch := range all {
		var found bytes.Buffer
		cmd := command(ctx, filepath.Join(b.root, batch.module), io.Discard, "go",
			batch.arguments("list", "-deps", "-f", packageLine)...)
		cmd.Stdout = &found
		if cmd.Run() != nil {
			continue
		}
		for line := range strings.Lines(found.String()) {
			if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) > 3 {
				b.progress.expect(fields[0], weigh(fields[1], fields[2], fields[3:]))
			}
		}
	}
}

// weigh returns the work that a package takes, in bytes of source: starting the compiler and linking a program each
// count as a fixed number of bytes. The numbers were measured on the 3,146 packages of the control plane and its
// seven programs.
func weigh(name, dir string, files []string) int64 {
	const start, link = 75_000, 1_500_000
	bytes := int64(start)
	for _, file := range files {
		if info, err := os.Stat(filepath.Join(dir, file)); err == nil {
			bytes += info.Size()
		}
	}
	if name == "main" {
		bytes += link
	}
	return bytes
}

func (b *builder) build(ctx context.Context, batch *batch) error {
	output := b.output(batch)
	if err := os.MkdirAll(output, 0o750); err != nil {
		return err
	}
	err := b.goBuild(ctx, batch, batch.arguments("build", "-v", "-o", output+string(filepath.Separator)))
	if err != nil {
		return err
	}
	for _, t := range batch.targets {
		from, to := filepath.Join(output, executable(t.program.pkg)), filepath.Join(b.root, t.output)
		if from != to {
			if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o750), os.Rename(from, to)); err != nil {
				return err
			}
		}
		if err := t.markMade(b.root); err != nil {
			return err
		}
	}
	return nil
}

// output returns the folder into which the go command writes: bin for Portico's programs, where it can check whether
// they are up to date, and a folder next to it for others, because it names them by their packages.
func (b *builder) output(batch *batch) string {
	if batch.module == "." {
		return filepath.Join(b.root, "bin")
	}
	return filepath.Join(b.root, ".cache", "compiled", filepath.Base(batch.module))
}

// goBuild runs the go command in a batch's module. Its progress goes to the builder's progress, and all other output
// to the log.
func (b *builder) goBuild(ctx context.Context, batch *batch, args []string) error {
	dir := filepath.Join(b.root, batch.module)
	return b.logged(ctx, filepath.Base(dir), batch.name(), func(log io.Writer) error {
		lines := &lineWriter{each: func(line string) {
			if !b.progress.heard(line) {
				_, _ = fmt.Fprintln(log, line)
			}
		}}
		cmd := command(ctx, dir, lines, "go", args...)
		if batch.cgo {
			cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
		}
		err := cmd.Run()
		lines.end()
		return err
	})
}

// lineWriter passes on what is written to it, line by line.
type lineWriter struct {
	each func(string)
	rest []byte
}

func (w *lineWriter) Write(data []byte) (int, error) {
	w.rest = append(w.rest, data...)
	for {
		line, rest, whole := bytes.Cut(w.rest, []byte("\n"))
		if !whole {
			return len(data), nil
		}
		w.each(string(line))
		w.rest = rest
	}
}

func (w *lineWriter) end() {
	if len(w.rest) > 0 {
		w.each(string(w.rest))
	}
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// executable returns the name that the go command gives a package's program.
func executable(pkg string) string {
	dir, base := path.Split(pkg)
	if majorVersion.MatchString(base) {
		base = path.Base(dir)
	}
	return base
}
