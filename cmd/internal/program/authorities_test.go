//go:debug x509usefallbackroots=1
package program

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestACAFileMustHaveCertificates(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, says := range map[string]string{
		empty: "no certificates in PEM form", filepath.Join(t.TempDir(), "missing"): "no such file",
	} {
		if err := Trust(file, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Trust(%s) = %v, want %q", filepath.Base(file), err, says)
		}
	}
}

func TestABrokenCertificateIsNamed(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	block := func(der []byte) string {
		return "a comment\n" + string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	good := block(server.Certificate().Raw)
	for text, says := range map[string]string{
		good + good:                              "2 certificates, <nil>",
		good + block([]byte("no certificate")):   "certificate 2 of 2, which cannot be read",
		good + good[:len(good)-30] + "\n" + good: "certificate 2 of 3, which is not complete",
	} {
		all, err := certificates([]byte(text))
		got := fmt.Sprint(len(all), " certificates, ", err)
		if !strings.Contains(got, says) {
			t.Errorf("%s, want %q", got, says)
		}
	}
}

// A private authority is trusted beside those that were trusted before, by every client without authorities of its own.
func TestAPrivateAuthorityIsAdded(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	before, err := authorities()
	if err != nil {
		t.Fatal(err)
	}
	if before.Equal(x509.NewCertPool()) {
		t.Fatal("nothing is trusted by default")
	}
	file := filepath.Join(t.TempDir(), "ca.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if err := Trust(file, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "certificates=1") {
		t.Errorf("the log does not say how many: %s", &log)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	before.AddCert(server.Certificate())
	after, err := x509.SystemCertPool()
	if err != nil || !after.Equal(before) {
		t.Errorf("%v; the other authorities are not trusted any more", err)
	}
}

// In the image the system has no authorities: a private one must not take the place of Mozilla's.
func TestAPrivateAuthorityIsAddedWhereTheSystemHasNone(t *testing.T) {
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAPrivateAuthorityIsAdded$", "-test.v")
	none := filepath.Join(t.TempDir(), "none")
	again.Env = append(os.Environ(), "SSL_CERT_FILE="+none, "SSL_CERT_DIR="+none)
	if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestAPriv") {
		t.Errorf("%v: %s", err, out)
	}
}
