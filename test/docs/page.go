package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Otherwise is an exception: a command, or a part of commands, that is replaced or left out.
type Otherwise struct {
	Command string // a whole command, or
	Part    string // a part of commands and files
	Type    string // the replacement; empty to leave such commands out
	Why     string

	used bool
}

// Page is a page whose commands a test runs.
type Page struct {
	t         *testing.T
	name      string
	read      *reading
	otherwise []*Otherwise

	ran, changed int
	not          map[string]int // number of commands left out, by reason
}

// Open reads the page at a path in the repository. Commands within sentences are run, too, if they begin with one of
// programs, which are separated by |. The test fails at its end if a block was not run or an exception was not needed.
func Open(t *testing.T, root, name, programs string, otherwise ...Otherwise) *Page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return OpenText(t, name, string(text), programs, otherwise...)
}

// OpenText reads a page as Open does, from text instead of a file.
func OpenText(t *testing.T, name, text, programs string, otherwise ...Otherwise) *Page {
	t.Helper()
	p := &Page{t: t, name: name, read: read(text, programs), not: map[string]int{}}
	for _, o := range otherwise {
		p.otherwise = append(p.otherwise, &o)
	}
	if len(p.read.blocks) == 0 {
		t.Fatalf("%s has no commands", name)
	}
	t.Cleanup(p.finished)
	return p
}

// Blocks returns the blocks below a heading, or all blocks if heading is "".
func (p *Page) Blocks(heading string) (all []*Block) {
	p.t.Helper()
	for _, b := range p.read.blocks {
		if heading == "" || slices.Contains(b.Headings, heading) {
			all = append(all, b)
		}
	}
	if len(all) == 0 {
		p.t.Fatalf("%s has no commands below %q", p.name, heading)
	}
	return all
}

// Files writes the page's files into the shell's folder.
func (p *Page) Files(s *Shell) {
	p.t.Helper()
	for _, f := range p.read.files {
		text, why := p.typed(f.text)
		if why != "" {
			p.t.Fatalf("%s: %s would not be written: %s", p.name, f.name, why)
		}
		if err := os.WriteFile(filepath.Join(s.Dir, f.name), []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// Type runs blocks and returns their output. The test fails if a block fails, unless the page shows an error of
// portico, and if the output differs from what the page shows.
func (p *Page) Type(s *Shell, blocks ...*Block) (printed string) {
	p.t.Helper()
	for _, b := range blocks {
		printed += p.block(s, b)
	}
	return printed
}

func (p *Page) block(s *Shell, b *Block) string {
	p.t.Helper()
	script := p.script(b)
	if script == "" {
		return ""
	}
	out, err := s.Run(p.t.Context(), script)
	if fails := len(b.Shows) > 0 && strings.HasPrefix(b.Shows[0], "portico: "); (err != nil) != fails {
		p.t.Errorf("%s:%d:\n%s\nends with %v:\n%s", p.name, b.Line, script, err, out)
	}
	if got := steady(out); b.Shows != nil && !slices.Equal(got, steady(strings.Join(b.Shows, "\n"))) {
		p.t.Errorf("%s:%d:\n%s\nprints\n%s\nand the page says\n%s", p.name, b.Line, script, strings.Join(got, "\n"),
			strings.Join(b.Shows, "\n"))
	}
	return out
}

// script returns the commands to run of a block.
func (p *Page) script(b *Block) string {
	var lines []string
	for _, command := range b.Commands {
		text, why := p.typed(command)
		switch {
		case b.typed: // run before
		case why != "":
			p.not[why]++
		case text != command:
			p.changed++
			fallthrough
		default:
			p.ran++
		}
		if why == "" {
			lines = append(lines, text)
		}
	}
	b.typed = true
	return strings.Join(lines, "\n")
}

// typed returns the command or file with its replacements, or the reason why it is left out.
func (p *Page) typed(text string) (typed, why string) {
	for _, o := range p.otherwise {
		if o.Command != strings.TrimSpace(text) && (o.Part == "" || !strings.Contains(text, o.Part)) {
			continue
		}
		o.used = true
		switch {
		case o.Type == "":
			return "", o.Why
		case o.Part == "":
			text = o.Type
		default:
			text = strings.ReplaceAll(text, o.Part, o.Type)
		}
	}
	return text, ""
}

// finished fails the test for blocks that were not run and exceptions that were not needed, and logs the counts.
func (p *Page) finished() {
	p.t.Helper()
	if p.t.Failed() {
		return // the test ended early
	}
	for _, b := range p.read.blocks {
		if !b.typed {
			p.t.Errorf("%s:%d: nobody typed\n%s", p.name, b.Line, strings.Join(b.Commands, "\n"))
		}
	}
	for _, o := range p.otherwise {
		if !o.used {
			p.t.Errorf("%s: the exception for %q is not needed any more", p.name, o.Command+o.Part)
		}
		if o.Why == "" {
			p.t.Errorf("%s: the exception for %q has no reason", p.name, o.Command+o.Part)
		}
	}
	var reasons []string
	not := 0
	for why, n := range p.not {
		reasons = append(reasons, fmt.Sprintf("%d: %s", n, why))
		not += n
	}
	slices.Sort(reasons)
	p.t.Logf("%d commands of %s ran (%d of them changed for this place), %d not (%s)", p.ran, p.name, p.changed, not,
		strings.Join(reasons, "; "))
}
