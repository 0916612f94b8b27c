package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/config/manifests"
)

// charts are the folders of the released charts.
var charts = []string{"portico", "portico-config"}

// charted packs each chart as helm package does, and writes install.yaml. It fails if they are not of the release's
// version.
func (r release) charted(context.Context) error {
	for _, name := range charts {
		if err := r.chart(name); err != nil {
			return fmt.Errorf("chart %s: %w", name, err)
		}
	}
	return r.installation()
}

// installation writes what kubectl kustomize renders of config/default to one file.
func (r release) installation() error {
	objects, err := manifests.Read(os.DirFS(r.root), manifests.Default)
	if err != nil {
		return err
	}
	text := []byte("# config/default of Portico " + r.version + "\n")
	for _, o := range objects {
		document, err := yaml.Marshal(o.Object)
		if err != nil {
			return err
		}
		text = slices.Concat(text, []byte("---\n"), document)
	}
	if !bytes.Contains(text, []byte("/portico-operator:"+r.version+"\n")) {
		return fmt.Errorf("%s has no image of %s: make generate, and commit", manifests.Default, r.version)
	}
	return r.write("install.yaml", text)
}

func (r release) chart(name string) error {
	folder := filepath.Join(r.root, "charts", name)
	version := strings.TrimPrefix(r.version, "v")
	if err := ofVersion(filepath.Join(folder, "Chart.yaml"), version); err != nil {
		return err
	}
	files, err := chartFiles(folder)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, file := range files {
		content, err := os.ReadFile(filepath.Clean(filepath.Join(folder, filepath.FromSlash(file))))
		if err != nil {
			return err
		}
		if err := add(w, tar.Header{Name: path.Join(name, file), Mode: 0o644, ModTime: r.date}, content); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return r.write(name+"-"+version+".tgz", out.Bytes())
}

// ofVersion returns an error if a chart's version is not the release's.
func ofVersion(file, version string) error {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return err
	}
	var chart struct{ Version, AppVersion string }
	if err := yaml.Unmarshal(text, &chart); err != nil {
		return err
	}
	if chart.Version != version || chart.AppVersion != "v"+version {
		return fmt.Errorf("%s says version %s and appVersion %s: make them %s and v%[4]s, make generate, and commit",
			file, chart.Version, chart.AppVersion, version)
	}
	return nil
}

// chartFiles returns the files of a chart, sorted. It follows links.
func chartFiles(folder string) ([]string, error) {
	var files []string
	var walk func(at string) error
	walk = func(at string) error {
		entries, err := os.ReadDir(filepath.Join(folder, filepath.FromSlash(at)))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			name := path.Join(at, entry.Name())
			info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name))) // follows links
			switch {
			case err != nil:
				return err
			case info.IsDir():
				if err := walk(name); err != nil {
					return err
				}
			case info.Mode().Type() == fs.FileMode(0) && !omitted(entry.Name()):
				files = append(files, name)
			}
		}
		return nil
	}
	err := walk("")
	slices.Sort(files)
	return files, err
}

// omitted reports whether a file is in no chart: Go, kustomize, and what generates the README.
func omitted(name string) bool {
	return path.Ext(name) == ".go" || name == "Kustomization" || path.Ext(name) == ".gotmpl"
}
