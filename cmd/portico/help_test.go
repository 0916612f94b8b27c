package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

var update = flag.Bool("update", false, "write new golden files")

// every returns each command that is not cobra's own, by its path.
func every(root *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{"portico": root}
	var add func(*cobra.Command)
	add = func(parent *cobra.Command) {
		for _, c := range parent.Commands() {
			if c.Name() != "completion" && c.Name() != "help" {
				all[strings.ReplaceAll(c.CommandPath(), " ", "-")] = c
				add(c)
			}
		}
	}
	add(root)
	return all
}

func commands(t *testing.T) *cobra.Command {
	t.Helper()
	return (&app{world: newTerminal(t, "").world}).root()
}

func TestHelpIsAsItWasReviewed(t *testing.T) {
	for name, c := range every(commands(t)) {
		t.Run(name, func(t *testing.T) {
			args := slices.Concat(strings.Fields(c.CommandPath())[1:], []string{"--help"})
			got, said := newTerminal(t, "").run(0, args...)
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) || said != "" {
				t.Errorf("the help is\n%s%s\nrun go test ./cmd/portico -run TestHelp -update", got, said)
			}
		})
	}
}

func TestEveryCommandHasAnExampleAndCompletion(t *testing.T) {
	plain := []string{"portico-version", "portico-logout", "portico-whoami"} // nothing to show
	for name, c := range every(commands(t)) {
		if c.Example == "" && !strings.Contains(strings.Join(plain, " "), name) {
			t.Errorf("%s has no example", name)
		}
		if name != "portico" && c.ValidArgsFunction == nil {
			t.Errorf("%s does not complete its arguments: the shell would offer files", name)
		}
	}
}

// commandOf returns the command line of a name of every; names of commands below another have hyphens of their own.
func commandOf(name string) string {
	command := strings.Replace(name, "-", " ", 1)
	return strings.NewReplacer("portico team-", "portico team ", "portico sessions-", "portico sessions ",
		"portico secret-", "portico secret ", "portico kind-", "portico kind ").Replace(command)
}

func TestTheDocumentationNamesEveryCommand(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range every(commands(t)) {
		if command := commandOf(name); !bytes.Contains(page, []byte(command)) {
			t.Errorf("docs/cli.md has nothing about %s", command)
		}
	}
}

func TestCompletion(t *testing.T) {
	p := newPortal(t)
	p.on("GET /resources?kind=s3buckets&limit=500", 200, `{"items": [`+bucket("alpha", "True", "")+`,`+
		bucket("beta", "True", "")+`]}`)
	p.on("GET /resources?limit=500", 200, `{"items": [`+bucket("alpha", "True", "")+`]}`)
	c := newTerminal(t, p.url)
	for line, want := range map[string]string{
		"get buc":         "bucket\tS3Bucket is object storage",
		"get s3b":         "s3buckets\tS3Bucket is object storage",
		"get bucket al":   "alpha\tpayments\n:4",
		"describe al":     "alpha\tpayments\n:4",
		"delete bucket b": "beta\tpayments\n:4",
		"get -n p":        "payments\n:4",
		"get -o j":        "json\n:4",
		"request bucket x --set deletionPolicy=R": "deletionPolicy=Retain\n:6",
		"request bucket x --set force":            "forceDestroy=\n:6",
		"request poolg":                           ":4",
		"wait bucket x --for d":                   "deleted\n:4",
	} {
		if out, _ := c.run(0, append([]string{"__complete"}, strings.Fields(line)...)...); !strings.HasPrefix(
			out, want) {
			t.Errorf("%s offers %q, want %q", line, out, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out, _ := c.run(0, "completion", shell); len(out) < 1000 {
			t.Errorf("no completion for %s: %s", shell, out)
		}
	}
}

func TestTheDocumentationTellsEveryExitCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []int
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| .+ \|$`).FindAllSubmatch(page, -1) {
		n, err := strconv.Atoi(string(row[1]))
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, n)
	}
	if want := []int{
		0, exitError, exitUsage, exitTimeout, exitLogin, exitNotFound, exitForbidden,
		exitInterrupted,
	}; !slices.Equal(told, want) {
		t.Errorf("docs/cli.md tells of %v, and there are %v", told, want)
	}
}

func TestNoTwoKindsHaveAName(t *testing.T) {
	of := map[string]string{}
	for _, k := range catalogtest.Kinds(t) {
		for _, name := range names(k) {
			if other := of[name]; other != "" && other != k.Name {
				t.Errorf("%s is the name of %s and of %s", name, other, k.Name)
			}
			of[name] = k.Name
		}
	}
}
