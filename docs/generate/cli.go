package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const commandLineOpening = `# Command line reference
The help of every command, as ` + "`portico COMMAND --help`" + ` shows it. This page is generated from the source by ` + "`make generate`" + `. The
[command line](cli.md) has an introduction, [CI jobs](cli.md#in-ci-jobs) and the exit codes.
`

// usage is the line of a help text that names its command, and what comes before the arguments and flags.
var usage = regexp.MustCompile(`(?m)^  (portico(?: [a-z][a-z-]*)*)`)

// commandLine writes docs/cli-reference.md of the help texts that the tests of cmd/portico hold to what the program
// says.
func commandLine(root string) ([]byte, error) {
	paths, err := filepath.Glob(filepath.Join(root, "cmd/portico/testdata/portico*.txt"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("%d help texts of commands were found: %w", len(paths), err)
	}
	helps := map[string]string{}
	var names []string
	for _, path := range paths {
		text, err := os.ReadFile(path) //nolint:gosec // a file of the tree
		if err != nil {
			return nil, fmt.Errorf("reading the help of a command: %w", err)
		}
		_, line, _ := strings.Cut(string(text), "\nUsage:\n")
		m := usage.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("%s has no line of usage", path)
		}
		helps[m[1]] = string(text)
		names = append(names, m[1])
	}
	slices.Sort(names)
	out := bytes.NewBufferString(commandLineOpening)
	for _, name := range names {
		fmt.Fprintf(out, "\n## %s\n```text\n%s\n```\n", name, strings.TrimSpace(helps[name]))
	}
	return out.Bytes(), nil
}
