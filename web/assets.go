// Package web holds the portal's static files and, in views, its templ components. It knows how objects can be
// doing, and nothing else of Kubernetes.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed static
var static embed.FS

// AssetsPath is where Assets must be mounted, as GET AssetsPath + "*".
const AssetsPath = "/assets/"

// asset is one static file, ready to send.
type asset struct {
	url   string
	kind  string
	plain []byte
	gzip  []byte // nil if it is no smaller
}

// kinds are the content types of what is served; other files under static (licences) are not.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// library maps names under static and URLs to assets. It is built once, at first use.
var library = sync.OnceValue(func() map[string]asset {
	all := map[string]asset{}
	err := fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || kinds[path.Ext(name)] == "" {
			return err
		}
		content, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		a := newAsset(strings.TrimPrefix(name, "static/"), content)
		all[strings.TrimPrefix(name, "static/")], all[a.url] = a, a
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("embedded static files: %v", err)) // cannot happen: they are part of the binary
	}
	return all
})

// newAsset names a file by its content, portico.0a1b2c3d4e5f.css, so that browsers may keep it for ever.
func newAsset(name string, content []byte) asset {
	sum := sha256.Sum256(content)
	base, ext := path.Base(name), path.Ext(name)
	a := asset{
		url:   AssetsPath + strings.TrimSuffix(base, ext) + "." + hex.EncodeToString(sum[:6]) + ext,
		kind:  kinds[ext],
		plain: content,
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return a
	}
	if _, err := w.Write(content); err != nil || w.Close() != nil {
		return a
	}
	if b.Len() < len(content) {
		a.gzip = b.Bytes()
	}
	return a
}

// URL returns where the browser finds a file of web/static, named as there (vendor/htmx.min.js). It panics for an
// unknown name, because names are literals in the templates.
func URL(name string) string {
	a, ok := library()[name]
	if !ok {
		panic("no static file " + name)
	}
	return a.url
}

// File returns the content of a file of web/static. It panics for an unknown name, as URL does.
func File(name string) []byte {
	URL(name)
	return library()[name].plain
}

// Assets serves the static files under their fingerprinted names, immutable and compressed.
func Assets(w http.ResponseWriter, r *http.Request) {
	a, ok := library()[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := a.plain
	if a.gzip != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = a.gzip
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body) // the client has gone; nobody is left to tell
}
