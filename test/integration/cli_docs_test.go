//go:build integration

package integration

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/docs"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// TestEverythingInTheCommandLinesPageRuns runs the commands that docs/cli.md prints, in order, and compares the
// output.
func TestEverythingInTheCommandLinesPageRuns(t *testing.T) {
	tiers.Long(t)
	r := newReader(t)
	page := docs.Open(t, "../..", "docs/cli.md", "portico", otherwise...)
	for _, b := range page.Blocks("") {
		if out := page.Type(r.shell(), b); tokenLike.MatchString(out) {
			t.Errorf("%q shows a token", b.Commands)
		}
	}
}

// reader runs the commands of a page, in a folder with the files that it mentions.
type reader struct {
	t *testing.T
	*terminal
	url  string
	here string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	p := startPortal(t, "", sessionKeys(t))
	setsSecrets(t, startInspectedFor(t, peopleOf(world.Issuer)))
	r := &reader{t: t, url: p.url, here: t.TempDir()}
	r.terminal = newTerminal(t, "PORTICO_NAMESPACE=payments", "EDITOR=true", "KUBECONFIG="+world.AdminKubeconfig,
		"GOMODCACHE="+goEnv(t, "GOMODCACHE"), "GOCACHE="+goEnv(t, "GOCACHE"), "GOFLAGS=-buildvcs=false",
		"CGO_ENABLED=0")
	bucket := "apiVersion: portico.dev/v1alpha1\nkind: S3Bucket\nmetadata: {name: reports}\nspec:\n  providerRef: " +
		"{name: " + stack.Provider + "}\n"
	r.file("platform/bucket.yaml", bucket+"  versioning: Enabled\n")
	r.login(p.url, "payments-dev")
	t.Cleanup(func() {
		for _, name := range []string{"webapp/shop", "bucket/reports", "queue/jobs"} {
			cmd := exec.CommandContext(context.WithoutCancel(t.Context()), r.binary, "delete", name, "--confirm",
				name[strings.IndexByte(name, '/')+1:], "--wait", "--timeout", "1m")
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

func (r *reader) file(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.here, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

const (
	person = "nobody is here to be asked, or to end it"
	shared = "it would change the cluster that other tests share"
	isName = "it is the name of a command here"
)

// otherwise has the replacements of commands that need a person, never end, or are only the name of a command.
var otherwise = append(teamCommands("list", "create", "suspend", "resume", "delete", "get", "members", "deployers",
	"add-member", "remove-member"), []docs.Otherwise{
	{Command: "portico request", Type: "portico request --help", Why: person},
	{Command: "portico rollback shop", Type: "portico rollback shop || [ $? = 1 ]", Why: "it has no earlier version; TestRollingBackAWebApp returns to one"},
	{Command: "portico get --status needs-you --watch", Type: "timeout -s INT --preserve-status 2 portico get --status needs-you --watch || [ $? = 130 ]", Why: person},
	{Command: "portico logs shop -f", Type: "timeout -s INT --preserve-status 5 portico logs shop -f > log || [ $? = 130 ]; grep -q . log", Why: person},
	{Command: "portico delete bucket reports", Type: "portico delete bucket reports --yes --dry-run", Why: person},
	{Command: "portico keep bucket reports", Type: "portico keep bucket reports --help", Why: "no deletion waits here; TestABucketThatIsKeptKeepsItsObjects calls one off"},
	{Command: "portico sessions end oidc:jo@example.com", Type: "portico sessions end --help", Why: "it takes an admin; TestAnAdminEndsSessionsOnEveryReplica does it over REST"},
	{Command: "portico secret set shop token", Type: "printf x | portico secret set shop token=-", Why: person},
	{Command: "portico secret delete shop [KEY…]", Type: "portico secret delete shop --yes", Why: person},
	{Command: "portico connect shop-db", Type: "portico connect --help", Why: "there is no database; TestPsqlIsStartedWithThePasswordInItsEnvironment connects to one"},
	{Command: "portico connect queue jobs", Type: "portico wait queue jobs --timeout 1m && portico connect queue jobs", Why: "it may not be Ready yet"},
	{Command: "portico login https://portal.example.com", Why: "newReader did it, for it takes a browser"},
	{Command: "portico logout", Type: "PORTICO_CONFIG_DIR=$HOME/nobody PORTICO_SERVER=$portal portico logout", Why: "the login is needed further on"},
	{Command: "portico check --fix", Type: "portico check --fix --help", Why: shared},
	{Command: "portico restore", Type: "portico restore --help", Why: shared},
	{Command: "portico restore portico.yaml", Type: "test -s portico.yaml && portico restore --help", Why: shared},
	{Command: "portico apply", Type: "portico apply --help", Why: isName},
	{Command: "portico pause", Type: "portico pause --help", Why: isName},
	{Command: "portico resume", Type: "portico resume --help", Why: isName},
	{Command: "portico login", Type: "portico login --help", Why: isName},
	{Part: "go build", Type: "go build -C $repository", Why: "the folder is another one"},
}...)

// teamCommands returns the commands of portico team that the page names without an example.
func teamCommands(verbs ...string) (all []docs.Otherwise) {
	for _, verb := range verbs {
		all = append(all, docs.Otherwise{
			Command: "portico team " + verb, Type: "portico team " + verb + " --help",
			Why: isName,
		})
	}
	return all
}

// shell returns a shell for the reader's commands.
func (r *reader) shell() *docs.Shell {
	r.t.Helper()
	repository, err := filepath.Abs("../..")
	if err != nil {
		r.t.Fatal(err)
	}
	path := strings.Join([]string{
		r.dir + "/.local/bin", filepath.Dir(r.binary), filepath.Join(repository, "bin"),
		os.Getenv("PATH"),
	}, ":")
	env := slices.Concat(r.command().Env, []string{"PATH=" + path, "portal=" + r.url, "repository=" + repository})
	return &docs.Shell{Dir: r.here, State: r.dir, Env: env}
}
