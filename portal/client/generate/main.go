// Command generate writes the part of package client that is generated from the OpenAPI document. Run it with make
// generate.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"os"
	"strconv"
	"strings"
	"text/template"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/rest"
)

//go:embed client.go.tmpl
var source string

func main() {
	out := flag.String("o", "portal/client/zz_generated.go", "`path` of the file to write")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	kinds, err := catalogtest.Load()
	if err != nil {
		return err
	}
	raw, err := rest.Document(kinds)
	if err != nil {
		return err
	}
	code, err := generate(raw, kinds)
	if err != nil {
		return err
	}
	return os.WriteFile(path, code, 0o644) //nolint:gosec // source, as every other file
}

// generate returns the Go source of the client for an OpenAPI document.
func generate(raw []byte, kinds catalog.Catalog) ([]byte, error) {
	d := &document{}
	if err := json.Unmarshal(raw, d); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	ofKinds, ofClient, err := d.calls(kinds)
	if err != nil {
		return nil, err
	}
	types, err := d.types(kinds)
	if err != nil {
		return nil, err
	}
	t, err := template.New("client").Funcs(template.FuncMap{"lower": unexported, "path": pathExpression}).Parse(source)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{"Kinds": kinds, "OfKinds": ofKinds, "OfClient": ofClient, "Types": types})
	if err != nil {
		return nil, err
	}
	code, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("formatting: %w:\n%s", err, b.String())
	}
	return code, nil
}

func unexported(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// pathExpression returns a Go expression for a path with its parameters filled in.
func pathExpression(path string) string {
	var parts []string
	for path != "" {
		before, rest, found := strings.Cut(path, "{")
		if before != "" {
			parts = append(parts, strconv.Quote(before))
		}
		if !found {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		parts = append(parts, "url.PathEscape("+name+")")
		path = after
	}
	if len(parts) == 0 {
		return `""`
	}
	return strings.Join(parts, " + ")
}
