package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// clientPlatforms are the platforms of the command line.
var clientPlatforms = []platform{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// clients builds and packs the command line for each platform: as a zip file for Windows, otherwise as a tar.gz file.
func (r release) clients(ctx context.Context) error {
	for _, on := range clientPlatforms {
		binary, err := r.build(ctx, client, on)
		if err != nil {
			return err
		}
		if err := r.sbom(client, on, binary); err != nil {
			return err
		}
		name := fmt.Sprintf("%s-%s-%s-%s", client.name, r.version, on.os, on.arch)
		packed, ending, err := r.packClient(on, binary)
		if err != nil {
			return err
		}
		if err := r.write(name+ending, packed); err != nil {
			return err
		}
	}
	return nil
}

func (r release) packClient(on platform, binary []byte) (packed []byte, ending string, err error) {
	if on.os == "windows" {
		packed, err = r.zipFile(client.name+".exe", binary)
		return packed, ".zip", err
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	if err := add(w, tar.Header{Name: client.name, Mode: 0o755, ModTime: r.date}, binary); err != nil {
		return nil, "", err
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	err = z.Close()
	return out.Bytes(), ".tar.gz", err
}

func (r release) zipFile(name string, binary []byte) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	file, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: r.date})
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(binary); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// packImage writes an image layout as one tar file that container tools can load.
func (r release) packImage(name string) error {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	folder := os.DirFS(r.path("images", name))
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, path)
		if err != nil {
			return err
		}
		return add(w, tar.Header{Name: path, Mode: 0o644, ModTime: r.date}, content)
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return r.write(name+"-"+r.version+".oci.tar", out.Bytes())
}

func add(w *tar.Writer, header tar.Header, content []byte) error {
	header.Size, header.Format = int64(len(content)), tar.FormatPAX
	if err := w.WriteHeader(&header); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}

// write writes a file of the release, and prints its name and size.
func (r release) write(name string, content []byte) error {
	path := r.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	r.say(name, fmt.Sprintf("%.1f MB", float64(len(content))/1e6))
	return os.WriteFile(path, content, 0o644) //nolint:gosec // it is for everybody
}
