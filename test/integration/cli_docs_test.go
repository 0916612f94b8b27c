//go:build integration

package integration

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/portico-platform/portico/test/stack"
)

// printed is something in docs/cli.md that a reader types.
type printed struct {
	script string
	shows  []string // what the page says that it prints; nil if it does not say
}

// inline is a command within a sentence.
var inline = regexp.MustCompile("`(portico [^`]+)`")

// printedIn are all of a page, in its order. A block of sh is one script, a block of console has prompts and what is printed.
func printedIn(page string) (all []printed) {
	for i, part := range strings.Split(page, "```") {
		language, text, _ := strings.Cut(part, "\n")
		switch {
		case i%2 == 0:
			for _, m := range inline.FindAllStringSubmatch(part, -1) {
				all = append(all, printed{script: strings.Join(strings.Fields(m[1]), " ")})
			}
		case language == "sh":
			all = append(all, printed{script: text})
		case language == "console":
			all = append(all, prompts(text)...)
		}
	}
	return all
}

func prompts(text string) (all []printed) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, printed{script: command})
			continue
		}
		last := &all[len(all)-1]
		last.shows = append(last.shows, line)
	}
	return all
}

// TestEverythingInTheCommandLinesPageRuns types what docs/cli.md prints, in its order, and compares what comes.
func TestEverythingInTheCommandLinesPageRuns(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(t)
	all := printedIn(string(page))
	if len(all) < 25 {
		t.Fatalf("only %d commands were found", len(all))
	}
	for _, p := range all {
		r.types(p)
	}
}

// reader is somebody who types what a page says, in a folder with the files that it speaks of.
type reader struct {
	t *testing.T
	*terminal
	url  string
	here string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	p := startPortal(t, "", sessionKeys(t))
	startOperator(t, operatorOptions{})
	r := &reader{t: t, url: p.url, here: t.TempDir()}
	r.terminal = newTerminal(t, "PORTICO_NAMESPACE=payments", "EDITOR=true", "KUBECONFIG="+world.AdminKubeconfig,
		"GOMODCACHE="+goEnv(t, "GOMODCACHE"), "GOCACHE="+goEnv(t, "GOCACHE"), "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0")
	bucket := "apiVersion: portico.dev/v1alpha1\nkind: S3Bucket\nmetadata: {name: reports}\nspec:\n  providerRef: {name: " + stack.Provider + "}\n"
	r.file("platform/bucket.yaml", bucket+"  versioning: Enabled\n")
	forgetCI(t)
	r.login(p.url, "payments-dev")
	t.Cleanup(func() {
		for _, name := range []string{"webapp/shop", "bucket/reports", "queue/jobs"} {
			cmd := exec.CommandContext(context.WithoutCancel(t.Context()), r.binary, "delete", name, "--yes", "--wait", "--timeout", "1m")
			cmd.Env = r.command().Env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s stays: %v: %s", name, err, out)
			}
		}
	})
	return r
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// forgetCI deletes, in the end, the ServiceAccount and its role that the page has the reader make.
func forgetCI(t *testing.T) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(world.Admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		noAccount := clients.CoreV1().ServiceAccounts("payments").Delete(ctx, "ci", metav1.DeleteOptions{})
		noBinding := clients.RbacV1().RoleBindings("payments").Delete(ctx, "ci", metav1.DeleteOptions{})
		if err := errors.Join(noAccount, noBinding); err != nil {
			t.Error(err)
		}
	})
}

func (r *reader) file(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.here, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// otherwise is how those are typed that need a person, never end, or are the name of a command only.
var otherwise = map[string]string{
	"portico get --status needs-you --watch": "timeout -s INT --preserve-status 2 portico get --status needs-you --watch || [ $? = 130 ]",
	"portico logs shop -f":                   "timeout -s INT --preserve-status 5 portico logs shop -f > log || [ $? = 130 ]; grep -q . log",
	"portico delete bucket reports":          "portico delete bucket reports --yes --dry-run",
	// These would change the cluster that other tests share.
	"portico check --fix":          "portico check --fix --help",
	"portico restore":              "portico restore --help",
	"portico restore portico.yaml": "test -s portico.yaml && portico restore --help",
	"portico logout":               "PORTICO_CONFIG_DIR=$HOME/nobody PORTICO_SERVER=$portal portico logout",
	"portico login https://portal.example.com\nportico whoami\n": "portico whoami", // newReader logged in
}

// types fails unless the script ends well, or ill where the page shows an error, and prints what the page says.
func (r *reader) types(p printed) {
	r.t.Helper()
	script := p.script
	if other, ok := otherwise[script]; ok {
		script = other
	} else if words := strings.Fields(script); len(words) == 2 && slices.Contains([]string{"apply", "pause", "resume", "login"}, words[1]) {
		script += " --help"
	}
	script = strings.ReplaceAll(script, "https://portal.example.com", r.url)
	cmd := exec.CommandContext(r.t.Context(), "bash", "-euo", "pipefail", "-c", "portal="+r.url+"; "+script)
	tools, err := filepath.Abs("../../bin")
	if err != nil {
		r.t.Fatal(err)
	}
	cmd.Env = slices.Concat(r.command().Env, []string{"PATH=" + r.dir + "/.local/bin:" + filepath.Dir(r.binary) + ":" + tools + ":" + os.Getenv("PATH")})
	cmd.Dir = r.here
	if strings.HasPrefix(script, "go build") {
		cmd.Dir = "../.."
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	fails := len(p.shows) > 0 && strings.HasPrefix(p.shows[0], "portico: ")
	if (err != nil) != fails {
		r.t.Errorf("%s\nends with %v:\n%s", script, err, &out)
	}
	if got := steady(out.String()); p.shows != nil && !slices.Equal(got, steady(strings.Join(p.shows, "\n"))) {
		r.t.Errorf("%s\nprints\n%s\nand the page says\n%s", script, strings.Join(got, "\n"), strings.Join(p.shows, "\n"))
	}
	if tokenLike.Match(out.Bytes()) {
		r.t.Errorf("%s shows a token", script)
	}
}

var changing = regexp.MustCompile(`-[0-9a-f]{8}\b|\b\d+s\b`)

// steady are the lines without what is another each time: widths of columns, ages, names that are made up, and how far it is.
func steady(text string) (lines []string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.Join(strings.Fields(changing.ReplaceAllString(line, "*")), " ")
		if !strings.HasPrefix(line, "In progress:") {
			lines = append(lines, line)
		}
	}
	return lines
}
