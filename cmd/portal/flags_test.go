package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/portico-platform/portico/portal/auth"
)

func none(string) string { return "" }

// good returns the minimum of valid flags.
func good(t *testing.T) []string {
	t.Helper()
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{
		"--public-url", "https://p.example", "--oidc-issuer-url", "https://i.example", "--oidc-client-id", "portal",
		"--namespace", "portico-system", "--session-key-file", keys, "--api-audience", "a", "--api-audience", "b",
	}
}

func TestFlags(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := parse(append(good(t), "--oidc-client-secret-file", secret), none, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{f.listen, f.metrics, f.auth.ClientSecret, f.auth.Prefix, f.auth.UsernameClaim}
	if diff := cmp.Diff([]string{"127.0.0.1:8080", "", "s3cret", "oidc:", "sub"}, got); diff != "" {
		t.Errorf("listen, metrics, ClientSecret, Prefix, UsernameClaim (-want +got):\n%s", diff)
	}
	if want := []string{"a", "b"}; !slices.Equal(f.auth.Audiences, want) {
		t.Errorf("Audiences = %q, want %q", f.auth.Audiences, want)
	}
	if got := f.impersonator.String(); got != "portico-system/portico-impersonator" {
		t.Errorf("impersonator = %s, want portico-system/portico-impersonator", got)
	}
}

// kubectl port-forward connects to loopback in the Pod's network namespace.
func TestAPodAnswersAtEachOfItsAddresses(t *testing.T) {
	f, err := parse(good(t), func(name string) string { return map[string]string{"POD_IP": "10.0.0.7"}[name] },
		&bytes.Buffer{})
	switch {
	case err != nil:
		t.Fatal(err)
	case f.listen != ":8080":
		t.Errorf("listen = %q, want :8080", f.listen)
	case f.metrics != ":8081":
		t.Errorf("metrics = %q, want :8081", f.metrics)
	case f.metricsOff():
		t.Error("metricsOff() = true, want false")
	}
}

func TestLivesOfSessions(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  auth.Life
	}{
		{nil, auth.Life{Idle: time.Hour, Max: 12 * time.Hour}},
		{[]string{"--session-idle", "1m", "--session-max", "1m"}, auth.Life{Idle: time.Minute, Max: time.Minute}},
		{[]string{"--session-idle=24h", "--session-max=24h"}, auth.Life{Idle: 24 * time.Hour, Max: 24 * time.Hour}},
	} {
		f, err := parse(append(good(t), c.flags...), none, &bytes.Buffer{})
		if err != nil || f.life != c.want {
			t.Errorf("%v: %+v, %v", c.flags, f, err)
		}
	}
}

func TestScopesOfCommandLineTools(t *testing.T) {
	for want, more := range map[string][]string{
		"":                  nil, // the provider's
		"openid audience:x": {"--cli-scopes", " openid  audience:x "},
	} {
		f, err := parse(append(good(t), more...), none, &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(f.auth.CLIScopes, " "); got != want {
			t.Errorf("%v: %q, want %q", more, got, want)
		}
	}
}

func TestWrongFlagsAreSaidInOneLine(t *testing.T) {
	for name, want := range map[string]string{
		"--public-url": "--public-url is needed", "--oidc-issuer-url": "--oidc-issuer-url",
		"--oidc-client-id": "--oidc-client-id",
		"--namespace":      "--namespace is needed", "--session-key-file": "--session-key-file is needed",
	} {
		args := good(t)
		i := slices.Index(args, name)
		args[i+1] = ""
		if _, err := parse(args, none, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("without %s: %v", name, err)
		}
	}
	for want, more := range map[string][]string{
		"want namespace/name": {"--impersonator", "portico-system/somebody "}, "no namespace can have this name": {
			"--namespace", "portico-system ",
		}, "secret-file": {"--oidc-client-secret-file", "/nowhere/at/all"},
		"nor an address": {"--trusted-proxies", "10.0.0.0/8, proxy"}, "is every address": {"--trusted-proxies", "0.0.0.0/0"},
		"unexpected argument": {"serve"}, "begin with system:": {"--oidc-prefix", "system:"}, "not defined": {"--what"},
		"over https only": {"--public-url", "http://p.example"}, "must not be empty": {"--api-audience", ""},
		"register a public one": {"--cli-client-id", "portal"},
		"--profiling is served at --metrics-listen: give that too": {"--profiling"},
		"--tls-cert-file and --tls-private-key-file go together":   {"--tls-cert-file", "c"},
		"give both, or none": {"--tls-private-key-file", "k"},
		"--api-rate -1 with --api-burst 100: the rate must not be negative":                               {"--api-rate", "-1"},
		"--api-rate 20 with --api-burst 0: the rate must not be negative, and a burst must be at least 1": {"--api-burst", "0"},
		"--api-rate 0.5 with --api-burst -3: the rate must not be negative":                               {"--api-rate", "0.5", "--api-burst", "-3"},
		"--api-rate +Inf: want a number of requests a second, or 0 for no limit":                          {"--api-rate", "Inf"},
		"--session-idle 59s: want at least 1m0s":                                                          {"--session-idle", "59s"},
		"--session-idle -1h0m0s: want at least 1m0s":                                                      {"--session-idle", "-1h"},
		"--session-max 24h0m1s: want at most 24h0m0s":                                                     {"--session-max", "24h1s"},
		"--session-idle 1h0m0s with --session-max 30m0s: a session cannot be":                             {"--session-max", "30m"},
		"--session-idle 13h0m0s with --session-max 12h0m0s: a session cannot be":                          {"--session-idle", "13h"},
		"invalid value \"60\" for flag -session-idle":                                                     {"--session-idle", "60"},
		"--installation-check-interval 10ms: at least 1s":                                                 {"--installation-check-interval", "10ms"},
		"--shutdown-delay-duration 1h0m0s: want 0s to 1m0s":                                               {"--shutdown-delay-duration", "1h"},
		"--api-rate NaN: want a number of requests a second, or 0 for no limit":                           {"--api-rate", "NaN"},
	} {
		if _, err := parse(append(good(t), more...), none, io.Discard); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", more, err)
		}
	}
	if _, err := parse(good(t)[:10], none, &bytes.Buffer{}); err == nil ||
		!strings.Contains(err.Error(), "--api-audience is needed") {
		t.Errorf("without an audience: %v", err)
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, none, io.Discard, &out); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	for _, want := range []string{
		"-public-url", "-session-key-file", "-impersonator", "-metrics-listen",
		"-api-audience", "-cli-client-id", "-session-idle", "-session-max", "openssl rand",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestTheVersionNeedsNoFlags(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--version"}, none, &out, io.Discard); err != nil ||
		!strings.HasPrefix(out.String(), "portal ") {
		t.Errorf("%q, %v", &out, err)
	}
}

func TestRunSaysWhatIsMissing(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := "{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}], contexts: [{name: c, context: {cluster: c}}], current-context: c}"
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for want, more := range map[string][]string{
		"--listen: ":       {"--kubeconfig", kubeconfig, "--listen", taken.Addr().String()},
		"--metrics-listen": {"--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0", "--metrics-listen", taken.Addr().String()},
		"kubeconfig":       {"--kubeconfig", "/nowhere/at/all"},
		"--tls-cert-file, --tls-private-key-file: ": {"--kubeconfig", kubeconfig, "--tls-cert-file", "/nowhere", "--tls-private-key-file", "/nowhere"},
		"session keys": {"--kubeconfig", kubeconfig, "--session-key-file", kubeconfig},
	} {
		if err := run(t.Context(), append(good(t), more...), none, io.Discard, io.Discard); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", more, err)
		}
	}
}
