//go:build integration

package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/portico-platform/portico/test/stack"
)

func TestABucketsLifeOnTheCommandLine(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	startOperator(t, operatorOptions{})
	c := newTerminal(t)
	name := unique("cli")

	_, said := c.run(4, "get")
	if !strings.Contains(said, "portico login") {
		t.Errorf("without a login: %s", said)
	}
	said = c.login(p.url, "payments-dev")
	if !strings.Contains(said, "Logged in at "+p.url+" as oidc:payments-dev.") || tokenLike.MatchString(said) {
		t.Errorf("login says %s", said)
	}
	info, err := os.Stat(filepath.Join(c.dir, "sessions.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("sessions are kept with %v, %v", info.Mode(), err)
	}
	if out, _ := c.run(0, "whoami"); !strings.Contains(out, "oidc:team-payments") ||
		!strings.Contains(out, "payments") {
		t.Errorf("whoami says %s", out)
	}

	before := c.ended()
	c.run(0, "whoami")
	if after := c.sessions(); strings.Contains(after, before) || strings.Count(after, `"idToken": "eyJ`) != 1 {
		t.Error("a token that has ended is not replaced")
	}

	if out, _ := c.run(0, "request", "bucket", name, "-n", "payments", "--set", "providerRef="+stack.Provider,
		"--dry-run"); !strings.Contains(out, "deletionPolicy: Delete") {
		t.Errorf("a dry run shows %s", out)
	}
	c.run(5, "get", "bucket", name, "-n", "payments")
	_, said = c.run(0, "request", "bucket", name, "-n", "payments", "--set", "providerRef="+stack.Provider, "--set",
		"tags.cost.center=4711", "--wait", "--timeout", "2m")
	if !strings.Contains(said, "Requested bucket "+name+" in payments.") || !strings.Contains(said, "Ready") {
		t.Errorf("request says %s", said)
	}
	c.run(0, "wait", "s3bucket/"+name, "-n", "payments", "--timeout", "2m")

	out, _ := c.run(0, "get", "bucket", name, "-n", "payments", "-o", "json")
	var obj map[string]any
	if err := json.Unmarshal([]byte(out), &obj); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got := nested(obj, "spec", "tags", "cost.center"); got != "4711" {
		t.Errorf("the tag is %v", got)
	}
	if out, _ := c.run(0, "get", "-n", "payments", "--status", "ready"); !strings.Contains(out, name) {
		t.Errorf("the list of what is ready lacks it: %s", out)
	}
	if out, _ := c.run(0, "describe", "bucket", name, "-n", "payments"); !strings.Contains(out, "Status:") ||
		!strings.Contains(out, "Ready") {
		t.Errorf("describe says %s", out)
	}

	c.change(name)
	c.run(0, "pause", "bucket", name, "-n", "payments")
	await(t, "the bucket to be paused", func() (bool, string) {
		out, _ := c.run(0, "get", "bucket", name, "-n", "payments")
		return strings.Contains(out, "Paused"), out
	})
	c.run(0, "resume", "bucket", name, "-n", "payments")

	c.run(2, "delete", "bucket", name, "-n", "payments")
	if _, said := c.run(6, "delete", "bucket", name, "-n", "payments", "--yes"); !strings.Contains(
		said, "add --confirm "+name) {
		t.Errorf("a deletion that nobody confirmed says %s", said)
	}
	_, said = c.run(0, "delete", "bucket", name, "-n", "payments", "--confirm", name, "--wait", "--timeout", "2m")
	if !strings.Contains(said, "is deleted.") {
		t.Errorf("delete says %s", said)
	}
	c.run(5, "wait", "bucket", name, "-n", "payments")
	c.run(0, "logout")
	c.run(4, "get", "--server", p.url)
}

func (c *terminal) sessions() string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, "sessions.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// ended makes the login's token look expired, and invalidates it. It returns the invalid one.
func (c *terminal) ended() string {
	c.t.Helper()
	const spoilt = "eyJspoilt"
	text := regexp.MustCompile(`"idToken": "[^"]*"`).ReplaceAllString(c.sessions(), `"idToken": "`+spoilt+`"`)
	text = regexp.MustCompile(`"expiry": "[^"]*"`).ReplaceAllString(text, `"expiry": "2001-01-01T00:00:00Z"`)
	if err := os.WriteFile(filepath.Join(c.dir, "sessions.json"), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return spoilt
}

// change applies a file with changes, without any, and with a mistake.
func (c *terminal) change(name string) {
	c.t.Helper()
	path := filepath.Join(c.dir, "bucket.yaml")
	write := func(more string) {
		text := "apiVersion: portico.dev/v1alpha1\nkind: S3Bucket\nmetadata: {name: " + name +
			"}\nspec:\n  providerRef: {name: " + stack.Provider + "}\n" + more
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	write("  tags: {team: payments}\n")
	for _, want := range []string{"changed", "unchanged"} {
		if out, _ := c.run(0, "apply", "-f", path, "-n", "payments"); !strings.HasSuffix(out, " "+want+"\n") {
			c.t.Errorf("apply says %s, want %s", out, want)
		}
	}
	// one after the other, faster than the portal's cache and the operator
	for _, tag := range []string{"a", "b", "c"} {
		write("  tags: {team: " + tag + "}\n")
		c.run(0, "apply", "-f", path, "-n", "payments")
		c.run(0, "wait", "bucket", name, "-n", "payments", "--timeout", "2m")
		out, _ := c.run(0, "get", "bucket", name, "-n", "payments", "-o", "json")
		var obj map[string]any
		if err := json.Unmarshal([]byte(out), &obj); err != nil {
			c.t.Fatal(err)
		}
		if nested(obj, "spec", "tags", "team") != tag || nested(obj, "status", "observedGeneration") != nested(
			obj, "metadata", "generation") {
			c.t.Errorf("what was applied is not what was waited for: %s", out)
		}
	}
	write("  versioning: 3\n")
	if _, said := c.run(1, "apply", "-f", path, "-n", "payments"); !strings.Contains(said, "spec.versioning") {
		c.t.Errorf("a wrong file: %s", said)
	}
}

func TestTheCommandLineTakesTokensOfServiceAccounts(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	const ns = "payments"
	clients, err := kubernetes.NewForConfig(world.Admin)
	if err != nil {
		t.Fatal(err)
	}
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: unique("job")}}
	if _, err := clients.CoreV1().ServiceAccounts(ns).Create(t.Context(), sa, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	seconds := int64(time.Hour / time.Second)
	got, err := clients.CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), sa.Name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{stack.Audience}, ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := "system:serviceaccount:" + ns + ":" + sa.Name
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(got.Status.Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string]string{
		"by itself": "PORTICO_TOKEN=" + got.Status.Token,
		"in a file": "PORTICO_TOKEN_FILE=" + file,
	} {
		t.Run(name, func(t *testing.T) {
			c := newTerminal(t, "PORTICO_SERVER="+p.url, env)
			if out, _ := c.run(0, "whoami"); !strings.Contains(out, want) {
				t.Errorf("whoami says %s", out)
			}
			_, said := c.run(6, "request", "bucket", "never", "-n", "search", "--set", "providerRef=x")
			if !strings.Contains(said, "you are not allowed to create s3buckets in namespace search") ||
				tokenLike.MatchString(said) {
				t.Errorf("without the right: %s", said)
			}
		})
	}
	c := newTerminal(t, "PORTICO_SERVER="+p.url, "PORTICO_TOKEN=nonsense")
	if _, said := c.run(4, "get"); !strings.Contains(said, "PORTICO_TOKEN") || strings.Contains(said, "nonsense") {
		t.Errorf("with a token that is none: %s", said)
	}
}
