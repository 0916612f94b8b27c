package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	secretsPath = "/namespaces/payments/secrets"
	aSecret     = `{"name": "shop", "created": "2026-01-02T03:04:05Z", "keys": [{"name": "token", "setAt": "2026-01-02T03:04:05Z", "setBy": "oidc:jane"}],
		"usedBy": [{"kind": "WebApp", "name": "shop", "effect": "takes a new value when its Pods start: portico restart"}]}`
	someSecrets = `{"items": [` + aSecret + `, {"name": "empty", "created": "2026-01-02T03:04:05Z", "keys": []}]}`
)

func TestValuesComeFromWhereNobodyElseLooks(t *testing.T) {
	dir := t.TempDir()
	text, raw, large, empty := filepath.Join(dir, "text"), filepath.Join(dir, "raw"), filepath.Join(dir, "large"),
		filepath.Join(dir, "empty")
	for path, b := range map[string][]byte{
		empty: {}, text: []byte("v4lue\n"), raw: {0xff, 0xfe},
		large: make([]byte, maxValue+1),
	} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		args  []string
		piped string
		typed func() (string, error)
		code  int
		said  string
		sent  string
	}{
		{"typed", []string{"token"}, "", func() (string, error) { return "v4lue", nil }, 0, "Secret shop in payments has 1 key now.", "map[values:map[token:v4lue]]"},
		{"piped", []string{"token=-"}, "v4lue\n", nil, 0, "WebApp shop takes a new value when its Pods start", "map[values:map[token:v4lue]]"},
		{"of a file", []string{"token=@" + text}, "", nil, 0, "has 1 key now", "map[values:map[token:v4lue\n]]"},
		{"no text", []string{"token=@" + raw}, "", nil, 0, "has 1 key now", "map[base64:map[token://4=]]"},
		{"on the command line", []string{"token=v4lue"}, "", nil, 2, "other programs see and shells remember", ""},
		{"nobody types", []string{"token"}, "", nil, 2, "use token=@FILE, or token=- for standard input", ""},
		{"nothing typed", []string{"token"}, "", func() (string, error) { return "", nil }, 2, "is empty: nothing was set", ""},
		{"typing breaks off", []string{"token"}, "", func() (string, error) { return "", errors.New("EOF") }, 1, "reading the value of token: EOF", ""},
		{"nothing piped", []string{"token=-"}, "", nil, 2, "standard input gives no value for token: nothing was set", ""},
		{"an empty line piped", []string{"token=-"}, "\n", nil, 2, "gives no value for token", ""},
		{"an empty file", []string{"token=@" + empty}, "", nil, 2, "empty gives no value for token", ""},
		{"two from one pipe", []string{"a=-", "b=-"}, "x", nil, 2, "standard input holds one value", ""},
		{"twice", []string{"a=-", "a=@" + text}, "x", nil, 2, "is there twice", ""},
		{"no key", []string{"=-"}, "x", nil, 2, "names no key", ""},
		{"no file", []string{"a=@" + filepath.Join(dir, "none")}, "", nil, 2, "no such file", ""},
		{"too large", []string{"a=@" + large}, "", nil, 2, "larger than 1 MiB", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			request := "PATCH " + secretsPath + "/shop"
			p.on(request, 200, aSecret)
			term := newTerminal(t, p.url)
			term.in, term.hidden, term.asks = strings.NewReader(c.piped), c.typed, c.typed != nil
			out, said := term.run(c.code, append([]string{"secret", "set", "shop"}, c.args...)...)
			if !strings.Contains(said, c.said) || strings.Contains(out+said, "v4lue") {
				t.Errorf("says %s%s, want %q", out, said, c.said)
			}
			if sent := fmt.Sprint(p.bodies[request]); c.sent != "" && sent != c.sent {
				t.Errorf("sends %s, want %s", sent, c.sent)
			}
			if n := p.times(request); c.sent == "" && n > 0 {
				t.Errorf("sends %d requests, want none", n)
			}
		})
	}
}

func TestRefusalsOfSecretsHaveTheirExitCodes(t *testing.T) {
	for status, code := range map[int]int{401: 4, 403: 6, 404: 5, 409: 1, 413: 1, 501: 1, 503: 1} {
		p := newPortal(t)
		p.on("PATCH "+secretsPath+"/shop", status,
			fmt.Sprintf(`{"status": %d, "detail": "the operator says why"}`, status))
		term := newTerminal(t, p.url)
		term.in = strings.NewReader("v4lue")
		if _, said := term.run(code, "secret", "set", "shop", "token=-"); !strings.Contains(
			said, "the operator says why") {
			t.Errorf("%d: said %q", status, said)
		}
	}
}

func TestNamesAndKeysOfSecretsAreListed(t *testing.T) {
	p := newPortal(t)
	p.on("GET "+secretsPath, 200, someSecrets)
	out, _ := newTerminal(t, p.url).run(0, "secret", "list")
	for _, want := range []string{"shop", "token", "2026-01-02T03:04:05Z", "oidc:jane", "WebApp/shop", "empty"} {
		if !strings.Contains(out, want) {
			t.Errorf("lists %s without %s", out, want)
		}
	}
	if out, _ := newTerminal(t, p.url).run(0, "secret", "list", "-o", "json"); !strings.Contains(
		out, `"setBy": "oidc:jane"`) {
		t.Errorf("as JSON %s", out)
	}
}

func TestSecretsAreDeletedAfterAsking(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		asks        bool
		args        []string
		code        int
		request     string
		said        string
	}{
		{"all of it", "yes\n", true, nil, 0, "DELETE " + secretsPath + "/shop?confirm=shop", "WebApp shop uses it, and cannot start without it"},
		{"a key", "yes\n", true, []string{"token"}, 0, "PATCH " + secretsPath + "/shop", "token of Secret shop in payments: deleted."},
		{"a key that is not there", "yes\n", true, []string{"tokn"}, 2, "", "has no key tokn: nothing was changed"},
		{"no", "no\n", true, nil, 1, "", "nothing was changed"},
		{"nobody is asked", "", false, []string{"--yes"}, 0, "DELETE " + secretsPath + "/shop?confirm=shop", "Secret shop in payments: deleted."},
		{"nobody can be asked", "", false, nil, 2, "", "add --yes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+secretsPath, 200, someSecrets)
			p.on("DELETE "+secretsPath+"/shop?confirm=shop", 200, aSecret)
			p.on("PATCH "+secretsPath+"/shop", 200, aSecret)
			term := newTerminal(t, p.url)
			term.in, term.asks = strings.NewReader(c.typed), c.asks
			_, said := term.run(c.code, append([]string{"secret", "delete", "shop"}, c.args...)...)
			if !strings.Contains(said, c.said) || c.request != "" && p.times(c.request) != 1 {
				t.Errorf("said %q, asked %q", said, p.asked)
			}
			if c.request == "" && p.times("DELETE "+secretsPath+"/shop?confirm=shop")+p.times(
				"PATCH "+secretsPath+"/shop") > 0 {
				t.Errorf("asked %q", p.asked)
			}
			if strings.HasPrefix(c.request, "PATCH") &&
				fmt.Sprint(p.bodies[c.request]) != "map[values:map[token:<nil>]]" {
				t.Errorf("sent %v", p.bodies[c.request])
			}
		})
	}
}
