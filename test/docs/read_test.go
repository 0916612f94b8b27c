package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const page = `# Title
Run ` + "`tool --help`" + ` first, and then ` + "`tool\nrun`" + `; ` + "`other thing`" + ` is none.

` + "```yaml\n# values.yaml\na: 1\n```\n```yaml\nb: 1\n```" + `
## One
` + "```sh\n# a comment\nX=1 \\\n  true\n\ncat <<'END'\n# text\n\nEND\nprintf a |\n  cat    # twice\n```" + `
### Two
2. ` + "```console\n   $ tool go\n   went\n   far\n   $ tool stop\n   ```" + `
## Three
` + "```sh\nlast\n```\n"

func TestReadFindsWhatIsTyped(t *testing.T) {
	r := read(page, "tool|unused")
	want := []Block{
		{Line: 1, Commands: []string{"tool --help"}},
		{Line: 1, Commands: []string{"tool run"}},
		{Line: 14, Headings: []string{"One"}, Commands: []string{"X=1 \\\n  true", "cat <<'END'\n# text\n\nEND", "printf a |\n  cat    # twice"}},
		{Line: 27, Headings: []string{"One", "Two"}, Commands: []string{"tool go"}, Shows: []string{"went", "far"}},
		{Line: 30, Headings: []string{"One", "Two"}, Commands: []string{"tool stop"}},
		{Line: 34, Headings: []string{"Three"}, Commands: []string{"last"}},
	}
	if len(r.blocks) != len(want) {
		t.Fatalf("%d blocks, want %d", len(r.blocks), len(want))
	}
	for i, w := range want {
		got := r.blocks[i]
		if got.Line != w.Line || !slices.Equal(got.Headings, w.Headings) {
			t.Errorf("block %d is at %d below %q, want %d, %q", i, got.Line, got.Headings, w.Line, w.Headings)
		}
		if !slices.Equal(got.Commands, w.Commands) || !slices.Equal(got.Shows, w.Shows) {
			t.Errorf("block %d: commands %q show %q, want %q, %q", i, got.Commands, got.Shows, w.Commands, w.Shows)
		}
	}
	if len(r.files) != 1 || r.files[0] != (file{"values.yaml", "# values.yaml\na: 1\n"}) {
		t.Errorf("files %v", r.files)
	}
}

func TestAPageIsTypedAndCounted(t *testing.T) {
	s := &Shell{Dir: t.TempDir(), State: t.TempDir(), Env: os.Environ()}
	p := OpenText(t, "page", "```sh\nX=1\naws nothing\n```\n```console\n$ echo $X is here\n1 is "+
		"there\n```\n```yaml\n# v.yaml\nhere\n```\n", "",
		Otherwise{Part: "here", Type: "there", Why: "it is elsewhere"},
		Otherwise{Part: "aws ", Why: "there is no account"})
	p.Files(s)
	if got := p.Type(s, p.Blocks("")...); got != "1 is there\n" {
		t.Errorf("printed %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(s.Dir, "v.yaml")); err != nil || string(text) != "# v.yaml\nthere\n" {
		t.Errorf("file %q, %v", text, err)
	}
	if p.ran != 2 || p.changed != 1 || p.not["there is no account"] != 1 {
		t.Errorf("ran %d, changed %d, not %v", p.ran, p.changed, p.not)
	}
}

// TestWhatIsNotTypedFails runs the tests that must fail in a separate process.
func TestWhatIsNotTypedFails(t *testing.T) {
	cases := map[string]func(t *testing.T){
		"nobody typed": func(t *testing.T) {
			t.Helper()
			OpenText(t, "page", "```sh\ntrue\n```\n", "")
		},
		"not needed any more": func(t *testing.T) {
			t.Helper()
			s := &Shell{Dir: t.TempDir(), State: t.TempDir(), Env: os.Environ()}
			p := OpenText(t, "page", "```sh\ntrue\n```\n", "", Otherwise{Part: "false", Why: "it fails"})
			p.Type(s, p.Blocks("")...)
		},
		"the page says": func(t *testing.T) {
			t.Helper()
			s := &Shell{Dir: t.TempDir(), State: t.TempDir(), Env: os.Environ()}
			p := OpenText(t, "page", "```console\n$ echo a\nb\n```\n", "")
			p.Type(s, p.Blocks("")...)
		},
		"ends with exit status 1": func(t *testing.T) {
			t.Helper()
			s := &Shell{Dir: t.TempDir(), State: t.TempDir(), Env: os.Environ()}
			p := OpenText(t, "page", "```sh\nfalse\ntrue\n```\n", "")
			p.Type(s, p.Blocks("")...)
		},
	}
	if name := os.Getenv("FAILING_CASE"); name != "" {
		cases[name](t)
		return
	}
	for says := range cases {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWhatIsNotTypedFails$")
		cmd.Env = append(os.Environ(), "FAILING_CASE="+says)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), says) {
			t.Errorf("%q: %v\n%s", says, err, out)
		}
	}
}
