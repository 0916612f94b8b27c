// Command release builds the files of a Portico release. It needs no daemon, pulls nothing, and is reproducible: the
// same commit results in the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const usage = `release builds the images of Portico, and everything else that a release is made of.

Usage:
  release [flags] images    the images of operator, portal and portico, as OCI image layouts
  release [flags] push REGISTRY   send those images to a registry, such as ghcr.io/portico-platform
  release [flags] all       images, charts, portico for each platform, SBOMs and checksums, from a clean work tree

Flags:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

type flags struct {
	root, version, output, key string
	nodes                      []platform // the platforms of the images
}

// on sets the platforms of the images.
func (f *flags) on(list string) error {
	f.nodes = nil
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(nodes, func(p platform) bool { return p.os+"/"+p.arch == name })
		if i < 0 {
			return errors.New("images are for linux/amd64 and linux/arm64")
		}
		f.nodes = append(f.nodes, nodes[i])
	}
	return nil
}

func run(ctx context.Context, args []string, out, said io.Writer) error {
	f := flags{nodes: nodes}
	set := flag.NewFlagSet("release", flag.ContinueOnError)
	set.SetOutput(said)
	set.Usage = func() {
		_, _ = io.WriteString(said, usage)
		set.PrintDefaults()
	}
	set.StringVar(&f.root, "root", ".", "`path` of the repository")
	set.StringVar(&f.version, "version", "", "`version`, such as v0.1.0; for images alone the default is "+unreleased)
	set.StringVar(&f.output, "output", "dist", "`folder` for what is built; what an earlier build left there is "+
		"removed")
	set.StringVar(&f.key, "key", "", "`path` of an SSH private key that signs the checksums; empty: they are "+
		"not signed")
	set.Func(
		"platforms",
		"`platforms` of the images, such as linux/amd64, with commas between; empty: both. A release "+
			"has both",
		f.on,
	)
	if err := set.Parse(args); err != nil {
		return err
	}
	what := set.Arg(0)
	if want, known := map[string]int{"images": 1, "all": 1, "push": 2}[what]; !known || set.NArg() != want {
		return errors.New("say what to do after the flags: images, all, or push and a registry; see release --help")
	}
	s, err := newSource(ctx, f.root, f.version)
	if err != nil {
		return err
	}
	r := release{source: s, folder: f.output, nodes: f.nodes, key: f.key, out: out}
	switch what {
	case "images":
		return r.images(ctx)
	case "push":
		return r.push(ctx, set.Arg(1))
	default:
		return r.all(ctx)
	}
}

// release is one run.
type release struct {
	source
	folder string // the output folder
	nodes  []platform
	key    string // path of the signing key, "" for none
	out    io.Writer
}

// images builds the images in a separate folder.
func (r release) images(ctx context.Context) error {
	for _, p := range images() {
		if err := r.image(ctx, p); err != nil {
			return fmt.Errorf("image of %s: %w", p.name, err)
		}
	}
	return nil
}

func (r release) all(ctx context.Context) error {
	if err := r.fit(); err != nil {
		return err
	}
	if len(r.nodes) != len(nodes) {
		return errors.New("a release has images for every platform: leave out -platforms")
	}
	if err := os.RemoveAll(r.folder); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{r.charted, r.images, r.clients, r.sums} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r release) path(elements ...string) string {
	return filepath.Join(append([]string{r.folder}, elements...)...)
}

// say prints a line about a file in the output folder, or a pushed image.
func (r release) say(what, about string) { _, _ = fmt.Fprintf(r.out, "%-52s %s\n", what, about) }
