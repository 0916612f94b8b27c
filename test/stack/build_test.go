package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sampleTarget copies one file to another, and counts how often.
func sampleTarget(count *int) Target {
	return Target{
		Name: "copy", about: "no time", inputs: []string{"in"}, output: "out",
		make: func(_ context.Context, root string, log io.Writer) error {
			*count++
			data, err := os.ReadFile(filepath.Join(root, "in"))
			if err == nil && string(data) == "bad" {
				_, _ = fmt.Fprintln(log, "first\nthe reason")
				err = errors.New("it does not compile")
			}
			return errors.Join(err, os.WriteFile(filepath.Join(root, "out"), data, 0o600))
		},
	}
}

func TestBuildMakesOnlyWhatIsOutOfDate(t *testing.T) {
	root, made := t.TempDir(), 0
	target := sampleTarget(&made)
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(root, "in"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	for _, step := range []struct {
		reason string
		change func()
		want   int
	}{
		{"never made", func() {}, 1},
		{"up to date", func() {}, 1},
		{"an input changed", func() { write("two") }, 2},
		{"the output is gone", func() { _ = os.Remove(filepath.Join(root, "out")) }, 3},
		{"built in another way", func() { target.key = "flags" }, 4},
		{"up to date again", func() {}, 4},
	} {
		step.change()
		if err := Build(t.Context(), root, []Target{target}, io.Discard); err != nil {
			t.Fatal(err)
		}
		if made != step.want {
			t.Errorf("%s: made %d times, want %d", step.reason, made, step.want)
		}
	}
}

func TestABuildThatFailsIsOneLineAndIsTriedAgain(t *testing.T) {
	root, made := t.TempDir(), 0
	if err := os.WriteFile(filepath.Join(root, "in"), []byte("bad"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := Build(t.Context(), root, []Target{sampleTarget(&made)}, io.Discard)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("%v", err)
		}
		for _, want := range []string{"copy could not be made", "the reason", filepath.Join(root, ".run", "build", "copy.log")} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
	}
	if made != 2 {
		t.Errorf("tried %d times", made)
	}
}

func TestMissingProgramsAreToldTogetherBeforeAnythingIsMade(t *testing.T) {
	made := 0
	a, b := sampleTarget(&made), sampleTarget(&made)
	a.needs = []prerequisite{{probe: []string{"/nonexistent/a"}, cure: "a is missing: install a"}}
	b.needs = []prerequisite{a.needs[0], {probe: []string{"/nonexistent/b"}, cure: "b is missing: install b"}}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "in"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := Build(t.Context(), root, []Target{a, b}, io.Discard)
	want := "a is missing: install a (needed for copy)\nb is missing: install b (needed for copy)"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if made != 0 {
		t.Error("something was made all the same")
	}
}

func TestTargetsFor(t *testing.T) {
	for _, purpose := range []string{"run", "browser", "web", "lint"} {
		targets, err := TargetsFor(purpose)
		if err != nil || len(targets) == 0 {
			t.Errorf("%s: %v, %v", purpose, targets, err)
		}
		for _, target := range targets {
			for _, input := range target.inputs {
				if _, err := os.Stat(filepath.Join("..", "..", input)); err != nil {
					t.Errorf("%s: %v", target.Name, err)
				}
			}
		}
	}
	if _, err := TargetsFor("tea"); err == nil {
		t.Error("something is built for tea")
	}
}
