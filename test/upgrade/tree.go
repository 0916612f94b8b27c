package upgrade

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// tree is a version of Portico: its files and its build results.
type tree struct {
	dir    string
	tag    string // image tag
	commit string // "" for the tree under test
}

func (t tree) bin() string { return filepath.Join(t.dir, "bin") }

func (t tree) String() string { return t.tag }

// baselineFile, relative to the repository, contains the commit to upgrade from.
const baselineFile = "test/upgrade/baseline"

// parseBaseline returns the only line that is not a comment: a full commit hash.
func parseBaseline(text string) (commit string, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if commit != "" {
			return "", errors.New("it names more than one commit")
		}
		commit = line
	}
	if len(commit) != 40 || strings.Trim(commit, "0123456789abcdef") != "" {
		return "", fmt.Errorf("it says %q; a full commit hash was expected", commit)
	}
	return commit, nil
}

// baseline extracts the commit to upgrade from out of git and builds it. It reuses an earlier build.
func baseline(ctx context.Context, root, from string, progress io.Writer) (tree, error) {
	if from == "" {
		text, err := os.ReadFile(filepath.Join(root, baselineFile))
		if err == nil {
			from, err = parseBaseline(string(text))
		}
		if err != nil {
			return tree{}, fmt.Errorf("read the baseline from %s: %w", baselineFile, err)
		}
	}
	commit, err := command(ctx, root, "git", "rev-parse", "--verify", "--end-of-options", from+"^{commit}")
	if err != nil {
		return tree{}, fmt.Errorf("find the commit to upgrade from (a shallow clone lacks it: git fetch "+
			"--unshallow): %w", err)
	}
	commit = strings.TrimSpace(commit)
	if _, err := command(ctx, root, "git", "merge-base", "--is-ancestor", commit, "HEAD"); err != nil {
		return tree{}, fmt.Errorf("%s is no ancestor of what is checked out, so nobody upgrades from it to this "+
			"tree: %w", commit, err)
	}
	t := tree{dir: filepath.Join(root, ".cache", "upgrade", commit), tag: "baseline", commit: commit}
	if err := t.extract(ctx, root); err != nil {
		return tree{}, fmt.Errorf("take %s out of git: %w", commit, err)
	}
	began := time.Now()
	if err := t.build(ctx); err != nil {
		return tree{}, fmt.Errorf("build %s: %w", commit, err)
	}
	_, _ = fmt.Fprintf(progress, "%-24s built after %.1f s\n", "the baseline", time.Since(began).Seconds())
	return t, nil
}

// extract writes the commit's files, unless they exist.
func (t tree) extract(ctx context.Context, root string) error {
	if _, err := os.Stat(t.dir); err == nil {
		return nil
	}
	part := t.dir + ".part"
	if err := errors.Join(os.RemoveAll(part), os.MkdirAll(part, 0o750)); err != nil {
		return err
	}
	archive := part + ".tar"
	defer func() { _ = os.Remove(archive) }()
	if _, err := command(ctx, root, "git", "archive", "--output", archive, t.commit); err != nil {
		return err
	}
	if _, err := command(ctx, part, "tar", "-xf", archive); err != nil {
		return err
	}
	return os.Rename(part, t.dir) // atomic
}

// build builds operator, portal and portico. The go command skips what is up to date.
func (t tree) build(ctx context.Context) error {
	const version = "github.com/portico-platform/portico/api/version"
	stamps := "-X " + version + ".number=" + t.tag + " -X " + version + ".commit=" + t.commit
	_, err := command(ctx, t.dir, "env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-buildvcs=false", "-ldflags",
		stamps,
		"-o", t.bin()+string(filepath.Separator), "./cmd/operator", "./cmd/portal", "./cmd/portico")
	return err
}

// command runs a program and returns its standard output. Its error includes the standard error.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(args, " "), err,
			out.String(), said.String())
	}
	return out.String() + said.String(), nil
}
