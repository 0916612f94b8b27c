package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/portal/catalog"
)

// maxFile bounds the size of a file: the API accepts no larger object.
const maxFile = 4 << 20

// document is one object of a file, whose kind may be missing.
type document struct {
	from string // the file, and which of its objects if there are several
	kind catalog.Kind
	text []byte
}

// readFiles reads the documents of a file, or of the files of a folder, as kubectl takes them.
func (a *app) readFiles(ctx context.Context, path string) ([]document, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() || path == "-" {
		return a.readFile(ctx, path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, usagef("-f: %v", err)
	}
	var all []document
	for _, e := range entries { // sorted by name
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			continue
		}
		docs, err := a.readFile(ctx, filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, docs...)
	}
	if len(all) == 0 {
		return nil, usagef("%s has no files that end in .yaml, .yml or .json with resources in them; folders below "+
			"it are not read", path)
	}
	return all, nil
}

// readFile splits a file into its objects; empty documents are left out.
func (a *app) readFile(ctx context.Context, path string) ([]document, error) {
	if err := a.load(ctx); err != nil {
		return nil, err
	}
	b, err := a.read(path)
	if err != nil {
		return nil, err
	}
	texts, err := split(b)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	var all []document
	for _, text := range texts {
		some, err := a.objectsIn(ctx, path, text)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	for i := range all {
		if len(all) > 1 {
			all[i].from = fmt.Sprintf("%s, resource %d", path, i+1)
		}
	}
	return all, nil
}

// split returns the documents of a file: of YAML, or JSON objects one after the other.
func split(b []byte) ([][]byte, error) {
	if texts, ok := splitJSON(b); ok {
		return texts, nil
	}
	var texts [][]byte
	reader := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(b)))
	buffer := make([]byte, maxFile+1)
	for {
		n, err := reader.Read(buffer)
		if errors.Is(err, io.EOF) {
			return texts, nil
		}
		if err != nil {
			return nil, err
		}
		texts = append(texts, bytes.Clone(buffer[:n]))
	}
}

// splitJSON returns the consecutive JSON texts in b; ok is false if any of it is invalid.
func splitJSON(b []byte) (texts [][]byte, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(b))
	for {
		var one json.RawMessage
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return texts, len(texts) > 0
		}
		if err != nil {
			return nil, false
		}
		texts = append(texts, one)
	}
}

// objectsIn returns the objects of one document: none, one, or those of a list.
func (a *app) objectsIn(ctx context.Context, path string, text []byte) ([]document, error) {
	asJSON, err := catalog.YAMLToJSON(text)
	if err != nil {
		return nil, usagef("%s: this is not valid YAML: %v", path, err)
	}
	var head struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}
	if bytes.Equal(asJSON, []byte("null")) {
		return nil, nil
	}
	if err := json.Unmarshal(asJSON, &head); err != nil {
		return nil, usagef("%s: this is not a resource: begin with apiVersion, kind, metadata and spec", path)
	}
	d := document{from: path, text: text}
	k, known := a.kindIn(head.APIVersion, head.Kind)
	switch {
	case known:
		d.kind, err = a.whole(ctx, k)
	case strings.HasSuffix(head.Kind, "List"):
		return a.inList(ctx, path, head.Items)
	case head.Kind != "":
		return nil, usagef("%s: there is no kind %q; see portico kinds", path, head.Kind)
	}
	return []document{d}, err
}

// kindIn returns the kind of an object; one of Portico needs no apiVersion.
func (a *app) kindIn(apiVersion, kind string) (catalog.Kind, bool) {
	if group, _, versioned := strings.Cut(apiVersion, "/"); versioned {
		return a.kinds.ByGroupKind(schema.GroupKind{Group: group, Kind: kind})
	}
	return a.kinds.ByName(kind)
}

func (a *app) inList(ctx context.Context, path string, items []json.RawMessage) ([]document, error) {
	var all []document
	for _, item := range items {
		some, err := a.objectsIn(ctx, path, item)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// object parses the document. It is an error if its kind or its name is missing.
func (d document) object() (*object, error) {
	if d.kind.Name == "" {
		return nil, usagef("%s: a resource does not say its kind: add apiVersion and kind", d.from)
	}
	obj, err := d.kind.ParseYAML(d.text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.from, err)
	}
	if obj.GetName() == "" {
		return nil, usagef("%s: %s has no metadata.name", d.from, spoken.A(d.kind.Name))
	}
	return obj, nil
}

// read returns the text of a file in UTF-8. It converts UTF-16, which some editors and shells write, if there is a byte
// order mark.
func (a *app) read(path string) ([]byte, error) {
	in := a.in
	if path != "-" {
		f, err := os.Open(path) //nolint:gosec // the person named it
		if err != nil {
			return nil, usagef("-f: %v", err)
		}
		defer func() { _ = f.Close() }() // only read
		in = f
	}
	in = transform.NewReader(in, unicode.BOMOverride(unicode.UTF8.NewDecoder()))
	b, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(b) > maxFile {
		return nil, errors.New(path + " is too large: want 4 MiB at most")
	}
	return b, nil
}
