package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

func written(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFlagsOfTheProvider(t *testing.T) {
	names := written(t, "0760b6cf-170e: Payments\n3b2b0c93-acd8: Search Team\n")
	f, err := parse(append(good(t), "--oidc-scopes", " openid  email ", "--oidc-groups-claim", "realm_access.roles",
		"--oidc-groups-optional",
		"--oidc-group-names-file", names, "--oidc-client-secret-file", written(t, "s3cret"),
		"--oidc-client-auth-method", "client_secret_post", "--oidc-confirm-prompt", "select_account"), none, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{f.auth.GroupsClaim, f.auth.AuthMethod, f.auth.ConfirmPrompt}
	if diff := cmp.Diff([]string{"realm_access.roles", "client_secret_post", "select_account"}, got); diff != "" {
		t.Errorf("GroupsClaim, AuthMethod, ConfirmPrompt (-want +got):\n%s", diff)
	}
	if want := []string{"openid", "email"}; !slices.Equal(f.auth.Scopes, want) || !f.auth.GroupsOptional {
		t.Errorf("Scopes = %q, want %q; GroupsOptional = %v, want true", f.auth.Scopes, want, f.auth.GroupsOptional)
	}
	if n := len(f.oidc.groupNames); n != 2 || f.oidc.groupNames["oidc:0760b6cf-170e"] != "Payments" {
		t.Errorf("groupNames = %v, want two, with Payments", f.oidc.groupNames)
	}
	for want, more := range map[string][]string{
		"openid must be among them":                {"--oidc-scopes", "email"},
		"it is client_secret_basic or client":      {"--oidc-client-auth-method", "none"},
		"it is login or select_account, or empty":  {"--oidc-confirm-prompt", "none"},
		"needs the client's secret":                {"--oidc-client-auth-method", "client_secret_basic"},
		"--check-oidc-token belongs to":            {"--check-oidc-token", "-"},
		"--oidc-group-names-file: open /nowhere":   {"--oidc-group-names-file", "/nowhere"},
		"want lines such as":                       {"--oidc-group-names-file", written(t, "- a\n")},
		"key \"a\" already set":                    {"--oidc-group-names-file", written(t, "a: A\na: B\n")},
		"are both called":                          {"--oidc-group-names-file", written(t, "a: Team\nb: team\n")},
		"\"b\", which is the ID of another group":  {"--oidc-group-names-file", written(t, "a: b\nb: c\n")},
		"group \"a\": its name is empty":           {"--oidc-group-names-file", written(t, "a: \"\"\n")},
		"must be of letters that can be read":      {"--oidc-group-names-file", written(t, "a: \"x\\u202ey\"\n")},
		"letters that can be read, at most":        {"--oidc-group-names-file", written(t, "a: "+strings.Repeat("x", 400)+"\n")},
		"without blanks around or two of them tog": {"--oidc-group-names-file", written(t, "a: \"b  c\"\n")},
	} {
		if _, err := parse(append(good(t), more...), none, io.Discard); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", more, err, want)
		}
	}
}

func TestCheckOIDC(t *testing.T) {
	p := oidctest.New(t)
	token := p.Token(oidctest.Claims{"aud": "portal", "groups": []string{"dev"}})
	args := []string{
		"--check-oidc", "--oidc-issuer-url", p.URL, "--oidc-client-id", "portal",
		"--oidc-client-secret-file", written(t, "s3cret"),
	}
	for _, c := range []struct {
		more []string
		in   string
		says string
		err  string
	}{
		{nil, "", "Nothing is wrong", ""},
		{[]string{"--check-oidc-token", "-"}, token + "\n", "oidc:subject-1", ""},
		{[]string{"--check-oidc-token", written(t, token)}, "", "oidc:dev", ""},
		{[]string{"--check-oidc-token", "-"}, "", "", "--check-oidc-token: there is no token"},
		{[]string{"--check-oidc-token", "/nowhere"}, "", "", "--check-oidc-token: open /nowhere"},
		{[]string{"--check-oidc-token", "-", "--oidc-groups-claim", "roles"}, token, `there is no claim "roles"`, "1 problem was found"},
		{[]string{"--check-oidc-token", "-", "--oidc-groups-claim", "roles", "--oidc-scopes", "email"}, token, "2. ", "2 problems were found"},
	} {
		var out bytes.Buffer
		f, err := parse(slices.Concat(args, c.more), none, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		err = f.lookAtProvider(t.Context(), strings.NewReader(c.in), &out)
		if (err == nil) != (c.err == "") || !strings.Contains(fmt.Sprint(err), c.err) {
			t.Errorf("%v: error = %v, want %q", c.more, err, c.err)
		}
		if !strings.Contains(out.String(), c.says) {
			t.Errorf("%v: output %q, want %q in it", c.more, &out, c.says)
		}
		if said := out.String(); strings.Contains(said, "s3cret") || strings.Contains(said, token) {
			t.Errorf("%v: a secret is told:\n%s", c.more, said)
		}
	}
	if err := run(t.Context(), args, none, io.Discard, io.Discard); err != nil {
		t.Errorf("without a cluster: %v", err)
	}
	if _, err := parse([]string{"--check-oidc"}, none, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "--oidc-issuer-url and --oidc-client-id are needed") {
		t.Errorf("%v", err)
	}
}
