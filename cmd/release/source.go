package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// unreleased is the version of images built between releases.
const unreleased = "v0.0.0"

const versionPackage = "github.com/portico-platform/portico/api/version"

// program is a released binary.
type program struct{ name, title string }

// servers are the programs that run in a cluster, each with its own image.
var servers = []program{
	{"operator", "Reconciles Portico's custom resources against AWS and Kubernetes"},
	{"portal", "Serves Portico's pages and its REST API"},
}

var client = program{"portico", "The command line of Portico"}

// images returns the programs with an image.
func images() []program { return append(slices.Clone(servers), client) }

// image returns the name of a program's image.
func (p program) image() string {
	if p == client {
		return p.name
	}
	return "portico-" + p.name
}

type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// source is the commit from which everything is built.
type source struct {
	root    string
	version string
	commit  string
	date    time.Time // of the commit, and of every packed file
	dirty   bool
}

func newSource(ctx context.Context, root, version string) (source, error) {
	if version == "" {
		version = unreleased
	}
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return source{}, fmt.Errorf("-version %q: want a version such as v0.1.0 or v0.2.0-rc.1", version)
	}
	s := source{root: root, version: version}
	text, err := s.git(ctx, "show", "--no-patch", "--format=%H %cI", "HEAD")
	if err != nil {
		return source{}, err
	}
	commit, date, _ := strings.Cut(text, " ")
	s.commit = commit
	if s.date, err = time.Parse(time.RFC3339, date); err != nil {
		return source{}, fmt.Errorf("date of the commit: %w", err)
	}
	s.date = s.date.UTC()
	changes, err := s.git(ctx, "status", "--porcelain")
	s.dirty = changes != ""
	return s, err
}

// fit returns an error if the source cannot be released.
func (s source) fit() error {
	if s.version == unreleased {
		return errors.New("-version is needed, such as v0.1.0")
	}
	if s.dirty {
		return errors.New("the work tree has changes: commit them first, so that the release can be built again from " +
			"its commit")
	}
	return nil
}

func (s source) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", s.root}, args...)...) //nolint:gosec // the arguments are ours
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// build compiles p and returns the binary, which contains nothing from this machine.
func (s source) build(ctx context.Context, p program, on platform) ([]byte, error) {
	folder, err := os.MkdirTemp("", "portico-release-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, p.name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", s.stamps(), "-o", path, "./cmd/"+p.name) //nolint:gosec // the programs are ours
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+on.os, "GOARCH="+on.arch, "GOAMD64=v1",
		"GOARM64=v8.0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s for %s: %w\n%s", p.name, on, err, said)
	}
	return os.ReadFile(filepath.Clean(path))
}

// stamps returns the linker flags that set the variables of api/version.
func (s source) stamps() string {
	commit := s.commit
	if s.dirty {
		commit += "+dirty"
	}
	return fmt.Sprintf("-s -w -buildid= -X %[1]s.number=%[2]s -X %[1]s.commit=%[3]s -X %[1]s.date=%[4]s",
		versionPackage, s.version, commit, s.date.Format(time.RFC3339))
}
