// Command generate updates the lists of Portico's kinds in roles, IAM templates and documentation from the CRDs, and
// writes the admission policies and the Go code that is the same for each kind, and the kustomizations.
//
// A list is a line with a comment that names its content, or the text between two comments:
//
//	resources: [s3buckets/status, sqsqueues/status] # kinds: all/status
//	kubectl delete s3buckets,sqsqueues -A --all # kinds: requested
//
//	<!-- generated: links -->…<!-- /generated -->
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// files are the patterns of the files with such lists.
var files = []string{
	"config/rbac/*.yaml", "config/policy/*.yaml", "config/aws/*.yaml", "config/aws/terraform/*.tf",
	"docs/README.md", "docs/install.md", "docs/iam/README.md",
}

var (
	line    = regexp.MustCompile(`(?m)^(.*\[)[^\]\n]*(\] *# kinds: (.+))$`)
	command = regexp.MustCompile(`(?m)^(kubectl delete )[a-z0-9,]*( .*# kinds: (.+))$`)
	block   = regexp.MustCompile(`(?s)((?:<!--|#) generated: ([a-z ]+?)(?: -->|\n)).*?((?:<!--| *#) /generated)`)
)

func main() {
	if err := generate("."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate(root string) error {
	all, err := load(root)
	if err != nil {
		return err
	}
	if err := all.writeCode(root); err != nil {
		return err
	}
	if err := writeEntries(root); err != nil {
		return err
	}
	if err := writeRoutes(root); err != nil {
		return err
	}
	if err := writeGuardrails(root); err != nil {
		return err
	}
	if err := writeKustomizations(root); err != nil {
		return err
	}
	for _, pattern := range files {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return err
		}
		for _, path := range paths {
			if err := rewrite(path, all); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return nil
}

func rewrite(path string, all lists) error {
	before, err := os.ReadFile(path) //nolint:gosec // a file of the tree
	if err != nil {
		return err
	}
	after, err := replace(before, line, 3, all.names)
	if err != nil {
		return err
	}
	after, err = replace(after, command, 3, func(what string) (string, error) {
		names, err := all.names(what)
		return strings.ReplaceAll(names, ", ", ","), err
	})
	if err != nil {
		return err
	}
	if after, err = replace(after, block, 2, all.text); err != nil || bytes.Equal(before, after) {
		return err
	}
	return os.WriteFile(path, after, 0o644) //nolint:gosec // a file of the tree
}

// replace replaces, in each match of at, the text between its first and its last group with the result of write for the
// group with that number. If that is the last group, it is part of the one before it, which then marks the end.
func replace(text []byte, at *regexp.Regexp, group int, write func(what string) (string, error)) ([]byte, error) {
	var failed error
	out := at.ReplaceAllFunc(text, func(found []byte) []byte {
		parts := at.FindSubmatch(found)
		written, err := write(strings.TrimSpace(string(parts[group])))
		if err != nil {
			failed = err
		}
		behind := parts[len(parts)-1]
		if group == len(parts)-1 {
			behind = parts[group-1]
		}
		return fmt.Appendf(nil, "%s%s%s", parts[1], written, behind)
	})
	return out, failed
}
