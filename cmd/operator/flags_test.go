package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/portico-platform/portico/controllers/operatorapi"
)

func environment(pairs ...string) func(string) string {
	return func(key string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestDefaultsAreFitForProduction(t *testing.T) {
	f, err := parse(nil, environment("POD_NAMESPACE", "portico-system", "AWS_WEB_IDENTITY_TOKEN_FILE", "/token"),
		&bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	c := f.controllers
	if c.Engine.Workers < 10 {
		t.Errorf("Engine.Workers = %v, want at least 10", c.Engine.Workers)
	}
	if diff := cmp.Diff(
		[]any{true, "portico-system", "/token", time.Hour, 2 * time.Minute, 5 * time.Minute},
		[]any{f.leaderElect, c.Namespace, c.TokenFile, c.Engine.Resync, c.Engine.Timeout, c.ProviderResync},
	); diff != "" {
		t.Errorf("leaderElect, Namespace, TokenFile, Engine.Resync, Engine.Timeout, ProviderResync (-want +got):\n%s",
			diff)
	}
}

func TestWrongFlagsAreNamed(t *testing.T) {
	for _, x := range []struct {
		args []string
		says string
	}{
		{nil, "--namespace is needed"},
		{[]string{"--namespace=n", "--workers=0"}, "--workers 0: at least 1"},
		{[]string{"--namespace=n", "--audit-interval=1ms"}, "--audit-interval 1ms"},
		{[]string{"--namespace=n", "--reconcile-timeout=0"}, "--reconcile-timeout"},
		{[]string{"--namespace=n", "--provider-resync=0"}, "--provider-resync"},
		{[]string{"--namespace=n", "--sweep-interval=0"}, "--sweep-interval"},
		{[]string{"--namespace=n", "--aws-rate=S3"}, "SERVICE=RATE"},
		{[]string{"--namespace=n", "--aws-rate=S3=0"}, "SERVICE=RATE"},
		{[]string{"--namespace=n", "--aws-rate=S4=5"}, "no service S4"},
		{[]string{"--namespace=n", "--inspect-bind-address=8443"}, "--inspect-bind-address 8443"},
		{[]string{"--namespace=n", "--inspect-bind-address=:84430"}, "--inspect-bind-address :84430"},
		{[]string{"--namespace=n", "--allowed-endpoints=s3.example.com"}, `"s3.example.com" is no http or https URL`},
		{[]string{"--namespace=n", "--allowed-endpoints=https://me:pw@s3.example.com"}, "no password"},
		{[]string{"--namespace=n", "--leader-elect-retry-period=10ms"}, "--leader-elect-retry-period 10ms: at least 100ms"},
		{[]string{"--namespace=n", "--leader-elect-retry-period=5s"}, "more than 1.2 times the retry period"},
		{[]string{"--namespace=n", "--leader-elect-lease-duration=5s"}, "--leader-elect-lease-duration 5s with --leader-elect-renew-deadline 5s"},
		{[]string{"--namespace=n", "--leader-elect-renew-deadline=15s"}, "must have ended before another one begins"},
		{[]string{"--namespace=n", "--installation-check-interval=0"}, "--installation-check-interval 0s: at least 1s"},
		{[]string{"--namespace=n", "--oidc-audience=rest"}, "need --oidc-issuer-url"},
		{[]string{"--namespace=n", "--oidc-issuer-url=https://login.example.com"}, "at least one audience"},
		{[]string{"--namespace=n", "--oidc-issuer-url=http://login.example.com", "--oidc-audience=rest"}, "it must be https"},
		{[]string{"--namespace=n", "--oidc-issuer-url=https://login.example.com", "--oidc-audience=rest", "--oidc-client-id=rest"}, "must not be the client"},
		{[]string{"--namespace=n", "--oidc-issuer-url=https://login.example.com", "--oidc-audience=rest", "--oidc-prefix=system:"}, "prefix"},
		{[]string{"--namespace=n", "--oidc-issuer-url=https://login.example.com", "--oidc-audience=rest", "--inspect-bind-address=0"}, "needs --inspect-bind-address"},
		{[]string{"--namespace=n", "--oidc-audience=rest,"}, "must not be empty"},
		{[]string{"--namespace=n", "start"}, `unexpected argument "start"`},
		{[]string{"--colour"}, "colour"},
	} {
		_, err := parse(x.args, environment(), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%v: got %v, want %q", x.args, err, x.says)
		}
	}
}

func TestWhereChecksAreShown(t *testing.T) {
	for _, x := range []struct {
		args []string
		want operatorapi.Options
	}{
		{nil, operatorapi.Options{Bind: ":8443", Advertise: "10.0.0.7", Elected: true}},
		{[]string{"--inspect-bind-address=0", "--leader-elect=false"}, operatorapi.Options{Bind: "0", Advertise: "10.0.0.7"}},
		{[]string{"--inspect-bind-address=127.0.0.1:0", "--inspect-advertise-address=a:1"}, operatorapi.Options{Bind: "127.0.0.1:0", Advertise: "a:1", Elected: true}},
	} {
		f, err := parse(append([]string{"--namespace=n"}, x.args...), environment("POD_IP", "10.0.0.7"),
			&bytes.Buffer{})
		if err != nil || f.controllers.OperatorAPI != x.want {
			t.Errorf("%v: %+v, %v", x.args, f.controllers.OperatorAPI, err)
		}
	}
}

func TestRatesAreSetByService(t *testing.T) {
	f, err := parse([]string{"--namespace=n", "--aws-rate=EC2=5", "--aws-rate=*=2.5"}, environment(), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if r := f.controllers.Rates; r["EC2"] != 5 || r[""] != 2.5 || r["S3"] != 200 {
		t.Errorf("rates %v", r)
	}
}

func TestEndpointsAreAllowedByOrigin(t *testing.T) {
	f, err := parse([]string{
		"--namespace=n", "--allowed-endpoints=https://S3.example.com/x, http://127.0.0.1:9000",
		"--allowed-endpoints=https://b.example:443",
	}, environment(), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.controllers.Endpoints,
		" "); got != "https://s3.example.com http://127.0.0.1:9000 https://b.example" {
		t.Errorf("endpoints %s", got)
	}
	if f, err = parse([]string{"--namespace=n"}, environment(), &bytes.Buffer{}); err != nil ||
		len(f.controllers.Endpoints) != 0 {
		t.Errorf("by default %v are allowed, %v", f.controllers.Endpoints, err)
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	out := &bytes.Buffer{}
	if _, err := parse([]string{"--help"}, environment(), out); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Usage:", "-kubeconfig", "-leader-elect", "-audit-interval", "-sweep-interval",
		"-aws-rate", "S3=200", "-allowed-endpoints", "-cluster-id",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help does not say %s", want)
		}
	}
}

// TestALeaderIsReplacedSoon: at most ten seconds after its death.
func TestALeaderIsReplacedSoon(t *testing.T) {
	f, err := parse([]string{"--namespace=n"}, environment(), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	longest := 1 + leaderelection.JitterFactor
	if most := f.lease.duration + time.Duration(2*longest*float64(f.lease.retry)); most > 10*time.Second {
		t.Errorf("it may take %s", most)
	}
}

func TestTheVersionNeedsNoCluster(t *testing.T) {
	out := &bytes.Buffer{}
	if err := run(t.Context(), []string{"--version"}, environment(), out, io.Discard); err != nil ||
		!strings.HasPrefix(out.String(), "operator ") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestAMissingClusterIsExplained(t *testing.T) {
	t.Setenv("KUBECONFIG", "/does/not/exist")
	err := run(t.Context(), []string{"--namespace=n"}, environment(), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "--kubeconfig") {
		t.Errorf("got %v", err)
	}
}
