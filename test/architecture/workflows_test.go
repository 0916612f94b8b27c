package architecture

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

type workflow struct {
	Permissions any                    `json:"permissions"`
	Jobs        map[string]workflowJob `json:"jobs"`
}

type workflowJob struct {
	Permissions any            `json:"permissions"`
	Environment string         `json:"environment"`
	Needs       any            `json:"needs"`
	Steps       []workflowStep `json:"steps"`
}

type workflowStep struct {
	Uses string            `json:"uses"`
	Run  string            `json:"run"`
	With map[string]any    `json:"with"`
	Env  map[string]string `json:"env"`
}

// writes reports whether permissions let a job's token write. Without permissions the repository's defaults apply,
// which count as writing.
func writes(permissions any) bool {
	return permissions == nil || strings.Contains(fmt.Sprint(permissions), "write")
}

// secrets reports whether a job has a secret, and whether it has the release signing key.
func (j workflowJob) secrets() (some, key bool) {
	text := fmt.Sprint(j.Steps)
	return strings.Contains(text, "secrets."), strings.Contains(text, "secrets.RELEASE_KEY")
}

// tests reports whether a job runs code that a pull request can change.
func (j workflowJob) tests() bool {
	return slices.ContainsFunc(j.Steps, func(s workflowStep) bool {
		return strings.Contains(s.Run, ".ci/run") || strings.Contains(s.Run, "make test") ||
			strings.Contains(s.Run, "go test")
	})
}

// faults returns the faults of a workflow, given as its text.
func faults(t *testing.T, text string) (all []string) {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil || len(w.Jobs) == 0 {
		t.Fatalf("%v, %d jobs", err, len(w.Jobs))
	}
	if writes(w.Permissions) {
		all = append(all, "every job's token may write: say permissions in the jobs that need them")
	}
	for name, j := range w.Jobs {
		mayWrite := j.Permissions != nil && writes(j.Permissions)
		some, key := j.secrets()
		if j.tests() && (mayWrite || some) {
			all = append(all, name+" runs tests beside a token that writes, or a secret")
		}
		if key && mayWrite {
			all = append(all, name+" has the signing key beside a token that writes")
		}
		if key && j.Environment == "" {
			all = append(all, name+" has the signing key in no environment, so that every workflow could have it")
		}
		for _, s := range j.Steps {
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
				all = append(all, name+" leaves its token in the work tree: persist-credentials: false")
			}
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, "uses:") && !pinned.MatchString(line) {
			all = append(all, "no digest and version: "+strings.TrimSpace(line))
		}
	}
	return all
}

// pinned matches an action that is pinned to a commit's digest, with its version in a comment for people and update
// bots.
var pinned = regexp.MustCompile(`uses: [a-z0-9-]+/[a-z0-9-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)

// TestWorkflowsKeepTokensAndKeysFromTests checks that jobs which run tests, whose code can come from anyone, have no
// token that writes and no key, and that actions are pinned.
func TestWorkflowsKeepTokensAndKeysFromTests(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.y*ml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range faults(t, string(text)) {
			t.Errorf("%s: %s", filepath.Base(file), fault)
		}
	}
}

func TestFaultsOfWorkflowsAreFound(t *testing.T) {
	const checkout = "    - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2\n      with: " +
		"{persist-credentials: false}\n"
	for name, row := range map[string]struct{ text, want string }{
		"by tag":             {"permissions: {}\njobs:\n  a:\n    steps:\n    - uses: actions/setup-go@v5\n", "no digest"},
		"a token is kept":    {"permissions: {}\njobs:\n  a:\n    steps:\n    - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2\n", "persist-credentials"},
		"all may write":      {"permissions: {contents: write}\njobs:\n  a:\n    steps:\n" + checkout, "every job's token"},
		"nothing is said":    {"jobs:\n  a:\n    steps:\n" + checkout, "every job's token"},
		"tests beside a key": {"permissions: {}\njobs:\n  a:\n    steps:\n    - run: .ci/run\n    - run: sign\n      env: {K: \"${{ secrets.K }}\"}\n", "runs tests"},
		"tests and a token":  {"permissions: {}\njobs:\n  a:\n    permissions: {contents: write}\n    steps:\n    - run: .ci/run\n", "runs tests"},
		"a key and a token": {"permissions: {}\njobs:\n  a:\n    environment: r\n    permissions: {contents: " +
			"write}\n    steps:\n    - run: x\n      env: {K: \"${{ secrets.RELEASE_KEY }}\"}\n", "signing key beside"},
		"a key for all": {"permissions: {}\njobs:\n  a:\n    steps:\n    - run: x\n      env: {K: \"${{ secrets.RELEASE_KEY }}\"}\n", "in no environment"},
	} {
		if got := faults(t, row.text); len(got) != 1 || !strings.Contains(got[0], row.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestABotKeepsPinnedActionsUpToDate checks that Dependabot updates the pinned actions.
func TestABotKeepsPinnedActionsUpToDate(t *testing.T) {
	text, err := os.ReadFile("../../.github/dependabot.yml")
	if err != nil {
		t.Fatal(err)
	}
	var bot struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directory   string   `json:"directory"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}
	if err := yaml.UnmarshalStrict(text, &map[string]any{}); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &bot); err != nil {
		t.Fatal(err)
	}
	looked := map[string][]string{}
	for _, u := range bot.Updates {
		looked[u.Ecosystem] = append(append(looked[u.Ecosystem], u.Directories...), u.Directory)
	}
	for _, ecosystem := range []string{"github-actions", "gomod"} {
		if !slices.Contains(looked[ecosystem], "/") {
			t.Errorf("nobody looks for updates of %s: %v", ecosystem, looked)
		}
	}
	for ecosystem, file := range map[string]string{"gomod": "go.mod", "npm": "package.json"} {
		for _, directory := range looked[ecosystem] {
			if _, err := os.Stat(filepath.Join("../..", directory, file)); err != nil && directory != "" {
				t.Error(err)
			}
		}
	}
}
