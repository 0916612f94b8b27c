package main

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestACertificateOfTheOrganisation(t *testing.T) {
	portal := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"username": "oidc:jane", "groups": [], "namespaces": []}`)
	}))
	defer portal.Close()
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "empty.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: portal.Certificate().Raw})
	for path, b := range map[string][]byte{good: text, bad: []byte("hello")} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		args []string
		env  string
		code int
		want string
	}{
		{"that nobody knows", nil, "", 1, "certificate"},
		{"by flag", []string{"--ca-file", good}, "", 0, "oidc:jane"},
		{"by variable", nil, good, 0, "oidc:jane"},
		{"that is none", []string{"--ca-file", bad}, "", 2, "has no certificates in PEM form"},
		{"that is not there", []string{"--ca-file", filepath.Join(dir, "nothing")}, "", 2, "--ca-file: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := newTerminal(t, portal.URL)
			term.vars["PORTICO_CA_FILE"] = c.env
			if out, said := term.run(c.code, append([]string{"whoami"}, c.args...)...); !strings.Contains(
				out+said, c.want) {
				t.Errorf("says %q, want %q", out+said, c.want)
			}
		})
	}
}

func TestTokensThatCannotBe(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, variable, value, want string }{
		{"a file that is empty", "PORTICO_TOKEN_FILE", empty, "the file of PORTICO_TOKEN_FILE holds no token: put one there, or unset it"},
		{"a file that is not there", "PORTICO_TOKEN_FILE", empty + "x", "PORTICO_TOKEN_FILE: open "},
		{"spaces alone", "PORTICO_TOKEN", "  ", "PORTICO_TOKEN holds no token"},
		{"several lines", "PORTICO_TOKEN", "s3cret\ntoken", "PORTICO_TOKEN holds no token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := newTerminal(t, newPortal(t).url)
			delete(term.vars, "PORTICO_TOKEN")
			term.vars[c.variable] = c.value
			if _, said := term.run(4, "whoami"); !strings.HasPrefix(said, "portico: "+c.want) {
				t.Errorf("says %q, want %q", said, c.want)
			}
		})
	}
}

func TestATokenOfAFileIsReadEachTime(t *testing.T) {
	p := newPortal(t)
	path := filepath.Join(t.TempDir(), "token")
	for _, token := range []string{"first", "second"} {
		if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		term := newTerminal(t, p.url)
		term.vars["PORTICO_TOKEN_FILE"] = path // takes precedence over PORTICO_TOKEN
		term.run(0, "whoami")
		if got := p.headers["GET /me"].Get("Authorization"); got != "Bearer "+token {
			t.Errorf("sent %q", got)
		}
	}
}
