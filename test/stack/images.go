package stack

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// unpack writes the files in the layers of one of Portico's images into a folder, and returns its entrypoint.
func (s *Stack) unpack(image, folder string) (program string, err error) {
	img, err := s.image(image)
	if err != nil {
		return "", err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return "", err
	}
	if len(config.Config.Entrypoint) != 1 {
		return "", fmt.Errorf("its entrypoint is %q; one program was expected", config.Config.Entrypoint)
	}
	files := mutate.Extract(img)
	defer func() { _ = files.Close() }()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	return config.Config.Entrypoint[0], untar(files, folder)
}

// image returns the image for this machine's platform.
func (s *Stack) image(name string) (v1.Image, error) {
	name, _, _ = strings.Cut(path.Base(name), ":")
	index, err := layout.ImageIndexFromPath(filepath.Join(s.opts.Images, name))
	if err != nil {
		return nil, err
	}
	top, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	inner, err := index.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		return nil, err
	}
	all, err := inner.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, m := range all.Manifests {
		if m.Platform.OS == runtime.GOOS && m.Platform.Architecture == runtime.GOARCH {
			return inner.Image(m.Digest)
		}
	}
	return nil, fmt.Errorf("no image for %s/%s", runtime.GOOS, runtime.GOARCH)
}

func untar(from io.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for archive := tar.NewReader(from); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			return fmt.Errorf("%s is no file; an image of ours has nothing else", header.Name)
		}
		file, err := root.OpenFile(header.Name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, header.FileInfo().Mode().Perm())
		if err != nil {
			return err
		}
		_, err = io.Copy(file, archive)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
}
