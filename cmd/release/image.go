package main

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is the UID and GID that run the programs. No user of an image or a node has them.
const user = "65532:65532"

// nodes are the platforms of the images of a release.
var nodes = []platform{{"linux", "amd64"}, {"linux", "arm64"}}

// image builds p for every platform in r.nodes and writes its image.
func (r release) image(ctx context.Context, p program) error {
	binaries := make([][]byte, len(r.nodes))
	for i, on := range r.nodes {
		var err error
		if binaries[i], err = r.build(ctx, p, on); err != nil {
			return err
		}
		if err := r.sbom(p, on, binaries[i]); err != nil {
			return err
		}
	}
	return r.layout(p, binaries)
}

// layout writes the image of the binaries, one for each platform in r.nodes, as an OCI image layout, and packed as one
// file.
func (r release) layout(p program, binaries [][]byte) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, on := range r.nodes {
		img, err := r.imageOf(p, on, binaries[i])
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: on.os, Architecture: on.arch}},
		})
	}
	index = mutate.Annotations(index, r.labels(p)).(v1.ImageIndex) //nolint:forcetypeassert // it is what went in
	name := p.image()
	folder := r.path("images", name)
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	at, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	if err := at.AppendIndex(index, layout.WithAnnotations(map[string]string{refName: r.version})); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	r.say("images/"+name, digest.String())
	return r.packImage(name)
}

// refName is the annotation of an image's tag in a layout.
const refName = "org.opencontainers.image.ref.name"

func (r release) labels(p program) map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title": p.image(), prefix + "description": p.title, prefix + "version": r.version,
		prefix + "revision": r.commit, prefix + "created": r.date.Format(time.RFC3339),
	}
}

// imageOf returns an image that contains only the binary. The CA roots are compiled in; SSL_CERT_FILE and SSL_CERT_DIR
// replace them.
func (r release) imageOf(p program, on platform, binary []byte) (v1.Image, error) {
	content, err := r.layer(p, binary)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.ConfigFile(img, &v1.ConfigFile{
		OS: on.os, Architecture: on.arch, Created: v1.Time{Time: r.date},
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{User: user, WorkingDir: "/", Entrypoint: []string{"/" + p.name}, Labels: r.labels(p)},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(img, mutate.Addendum{
		Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: r.date}, CreatedBy: "make image", Comment: p.name + " " + r.version},
	})
}

// layer returns the tar file of the image's only layer.
func (r release) layer(p program, binary []byte) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := add(w, tar.Header{Name: p.name, Mode: 0o555, ModTime: r.date}, binary); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}
