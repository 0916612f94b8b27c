//go:build integration

package integration

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	entries "github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/rest"
	"github.com/portico-platform/portico/test/contract"
)

// document returns the OpenAPI document of these portals, with a kind of others.
var document = sync.OnceValues(func() (*contract.Document, error) {
	crds, err := crd.All()
	if err != nil {
		return nil, err
	}
	other, err := widgetDefinition()
	if err != nil {
		return nil, err
	}
	kinds, err := catalog.New(append(crds, *other), append(entries.All(), *widgetEntry()))
	if err != nil {
		return nil, err
	}
	raw, err := rest.Document(kinds)
	if err != nil {
		return nil, err
	}
	return contract.Read(raw)
})

// programs returns the client that tests use to call portals: it compares each response of the REST API with the
// OpenAPI document.
func programs(t *testing.T) *http.Client {
	t.Helper()
	d, err := document()
	if err != nil {
		t.Fatal(err)
	}
	c := plainly()
	c.Transport = d.Transport("/api/v1", c.Transport, func(err error) { t.Error(err) })
	return c
}

// plainly returns the client for streams and for responses without a document. Like every client of portals here, it
// searches all responses for secrets.
func plainly() *http.Client {
	return &http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     secrets.Transport(http.DefaultTransport),
	}
}

// read returns a response with its whole body.
func read(t *testing.T, resp *http.Response) answer {
	t.Helper()
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, raw: string(b)}
	if strings.Contains(resp.Header.Get("Content-Type"), "json") {
		if err := json.Unmarshal(b, &a.body); err != nil {
			t.Fatalf("%s %s: %v in %s", resp.Request.Method, resp.Request.URL.Path, err, b)
		}
	}
	return a
}
