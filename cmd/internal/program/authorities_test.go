//go:debug x509usefallbackroots=1
package program

import (
	"crypto/x509"
	"encoding/pem"
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
		if err := Trust(file); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Trust(%s) = %v, want %q", filepath.Base(file), err, says)
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
	if err := Trust(file); err != nil {
		t.Fatal(err)
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
