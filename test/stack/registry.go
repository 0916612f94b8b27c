package stack

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Push sends an image to the registry of the real Nodes; they pull it from RegistryHost and the same path.
func (s *Stack) Push(ctx context.Context, path string, img v1.Image) error {
	ref, err := name.ParseReference(s.address(s.ports.registry)+"/"+path, name.Insecure)
	if err != nil {
		return err
	}
	if err := remote.Write(ref, img, remote.WithContext(ctx)); err != nil {
		return fmt.Errorf("push %s: %w", path, err)
	}
	return nil
}

// RegistryAddress returns where people push images.
func (s *Stack) RegistryAddress() string { return s.forPeople(s.ports.registry) }

// pushNodeImages sends what every Node needs.
func (s *Stack) pushNodeImages(ctx context.Context) error {
	for path, image := range map[string]struct {
		program string
		config  v1.Config
	}{
		"pause:1":   {"node-app", v1.Config{Entrypoint: []string{"pause"}, User: "65535:65535"}},
		"coredns:1": {"coredns", v1.Config{}},
	} {
		img, err := ProgramImage(s.opts.bin(image.program), image.config, nil)
		if err != nil {
			return err
		}
		if err := s.Push(ctx, path, img); err != nil {
			return err
		}
	}
	return nil
}

// PushPortico sends Portico's own images, from Options.Images, to the registry, with a tag.
func (s *Stack) PushPortico(ctx context.Context, tag string) error {
	for _, image := range []string{"portico-operator", "portico-portal", "portico"} {
		img, err := s.image(image)
		if err != nil {
			return err
		}
		if err := s.Push(ctx, image+":"+tag, img); err != nil {
			return err
		}
	}
	return nil
}

// PushNotes sends the image of examples/notes, which trusts the databases of this run as another would trust RDS.
func (s *Stack) PushNotes(ctx context.Context) error {
	authority, err := os.ReadFile(s.DatabaseCAFile())
	if err != nil {
		return err
	}
	img, err := ProgramImage(s.opts.bin("notes"), v1.Config{User: "65532:65532"},
		map[string][]byte{"etc/ssl/certs/ca-certificates.crt": authority})
	if err != nil {
		return err
	}
	return s.Push(ctx, "notes:1", img)
}

// ProgramImage returns an image that has nothing but a program, which is its entrypoint, and files by path.
func ProgramImage(program string, config v1.Config, files map[string][]byte) (v1.Image, error) {
	content, err := os.ReadFile(filepath.Clean(program))
	if err != nil {
		return nil, err
	}
	path := filepath.Base(program)
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	write := func(name string, mode int64, content []byte) error {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err := archive.Write(content)
		return err
	}
	err = write(path, 0o755, content)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err = errors.Join(err, write(name, 0o644, files[name]))
	}
	if err := errors.Join(err, archive.Close()); err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, static.NewLayer(layer.Bytes(), types.DockerUncompressedLayer))
	if err != nil {
		return nil, err
	}
	config.Entrypoint = append([]string{"/" + path}, config.Entrypoint...)
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", "amd64", config
	return mutate.ConfigFile(img, file)
}
