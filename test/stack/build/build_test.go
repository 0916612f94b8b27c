package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sampleTarget returns a target that copies one file to another, and counts how often.
func sampleTarget(count *int) Target {
	return Target{
		Name: "copy", inputs: []string{"in"}, output: "out",
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

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(
			path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuildMakesOnlyWhatIsOutOfDate(t *testing.T) {
	root, made := t.TempDir(), 0
	target := sampleTarget(&made)
	write(t, root, map[string]string{"in": "one"})
	for _, step := range []struct {
		reason string
		change func()
		want   int
	}{
		{"never made", func() {}, 1},
		{"up to date", func() {}, 1},
		{"an input changed", func() { write(t, root, map[string]string{"in": "two"}) }, 2},
		{"the output is gone", func() { _ = os.Remove(filepath.Join(root, "out")) }, 3},
		{"built in another way", func() { target.key = "flags" }, 4},
		{"up to date again", func() {}, 4},
	} {
		step.change()
		if err := Build(t.Context(), root, []Target{target, target}, io.Discard); err != nil {
			t.Fatal(err)
		}
		if made != step.want {
			t.Errorf("%s: made %d times, want %d", step.reason, made, step.want)
		}
	}
}

func TestABuildThatFailsIsOneLineAndIsTriedAgain(t *testing.T) {
	root, made := t.TempDir(), 0
	write(t, root, map[string]string{"in": "bad"})
	for range 2 {
		err := Build(t.Context(), root, []Target{sampleTarget(&made)}, io.Discard)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("%v", err)
		}
		for _, want := range []string{
			"copy could not be made", "the reason",
			filepath.Join(root, ".run", "build", "copy.log"),
		} {
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
	b.Name = "another"
	a.needs = []prerequisite{{probe: []string{"/nonexistent/a"}, cure: "a is missing: install a"}}
	b.needs = []prerequisite{a.needs[0], {probe: []string{"/nonexistent/b"}, cure: "b is missing: install b"}}
	root := t.TempDir()
	write(t, root, map[string]string{"in": ""})
	err := Build(t.Context(), root, []Target{a, b}, io.Discard)
	want := "a is missing: install a (needed for copy)\nb is missing: install b (needed for another)"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if made != 0 {
		t.Error("something was made all the same")
	}
}

// modules writes two modules with three programs.
func modules(t *testing.T) (root string, targets []Target) {
	t.Helper()
	root = t.TempDir()
	hello := func(text string) string { return fmt.Sprintf("package main\n\nfunc main() { println(%q) }\n", text) }
	write(t, root, map[string]string{
		"go.mod": "module example.com/ours\n\ngo 1.26\n", "cmd/ours/main.go": hello("ours"),
		"other/go.mod": "module example.com/other/server/v3\n\ngo 1.26\n", "other/go.sum": "",
		"other/main.go": hello("other"), "other/cmd/second/main.go": hello("second"),
	})
	return root, []Target{
		external("other", program{module: "other", pkg: "example.com/other/server/v3"}),
		external("second", program{module: "other", pkg: "example.com/other/server/v3/cmd/second"}),
		own("ours", "./cmd/ours"),
	}
}

func TestProgramsOfAModuleAreBuiltTogether(t *testing.T) {
	root, targets := modules(t)
	var out bytes.Buffer
	for range 2 {
		if err := Build(t.Context(), root, targets, &out); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"other", "second", "ours"} {
		var said bytes.Buffer
		if err := command(t.Context(), root, &said, filepath.Join(root, "bin", name)).Run(); err != nil ||
			said.String() != name+"\n" {
			t.Errorf("%s: %s, %v", name, said.String(), err)
		}
	}
	if all := batches([]Target{targets[0], targets[2], targets[1]}); len(all) != 2 ||
		all[0].name() != "other, second" || all[1].name() != "ours" {
		t.Errorf("%d batches", len(all))
	}
}

func TestWhatDoesNotCompileIsSaid(t *testing.T) {
	root, targets := modules(t)
	write(t, root, map[string]string{"other/cmd/second/main.go": "package main\n\nfunc main() { undefinedHere() }\n"})
	err := Build(t.Context(), root, targets, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "other, second could not be made") ||
		!strings.Contains(err.Error(), "undefined: undefinedHere") {
		t.Fatalf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "bin", "ours")); err == nil {
		t.Error("it went on with the next module")
	}
}

func TestAProgramThatIsInstalledIsUsed(t *testing.T) {
	root, assets := t.TempDir(), t.TempDir()
	before := ""
	script := func(text string) {
		if text == before {
			return // unchanged
		}
		before = text
		if err := os.WriteFile(filepath.Join(assets, "etcd"), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	for _, step := range []struct{ reason, script, says, not string }{
		{"new enough", "echo 'etcd Version: 3.6.1'", "etcd 3.6 is used", ""},
		{"used before", "echo 'etcd Version: 3.6.1'", "", "etcd"},
		{"too old", "echo 'etcd Version: 3.5.21'", "is not used: version 3.5 is too old, 3.6 is needed", ""},
		{"of another kind", "echo hello", "is not used: it tells no version that is understood", ""},
		{"it does not run", "exit 1", "is not used: it does not tell its version", ""},
	} {
		script(step.script)
		target := Etcd
		target.inputs = []string{"go.mod"}
		write(t, root, map[string]string{"go.mod": ""})
		var out bytes.Buffer
		found := preferInstalled(t.Context(), root, []Target{target}, &out)[0]
		if !strings.Contains(out.String(), step.says) || step.not != "" && strings.Contains(out.String(), step.not) {
			t.Errorf("%s: said %q", step.reason, out.String())
		}
		if used := found.program == nil; used != !strings.Contains(step.says, "is not used") {
			t.Errorf("%s: used is %t", step.reason, used)
		}
		if found.program == nil {
			if err := Build(t.Context(), root, []Target{target}, io.Discard); err != nil {
				t.Errorf("%s: %v", step.reason, err)
			}
			if to, err := os.Readlink(filepath.Join(root, "bin", "etcd")); err != nil ||
				to != filepath.Join(assets, "etcd") {
				t.Errorf("%s: linked to %s, %v", step.reason, to, err)
			}
		}
	}
	t.Setenv("KUBEBUILDER_ASSETS", filepath.Join(root, "bin"))
	if path, _ := find(root, []string{filepath.Join(root, "bin")}, "etcd"); path != "" {
		t.Errorf("what was built here is taken for installed: %s", path)
	}
}

func TestFor(t *testing.T) {
	names := func(purpose string, env map[string]string) []string {
		targets, err := For(purpose, func(name string) string { return env[name] })
		if err != nil || len(targets) == 0 {
			t.Errorf("%s: %v, %v", purpose, targets, err)
		}
		var names []string
		for _, target := range targets {
			names = append(names, target.Name)
			for _, input := range target.inputs {
				if _, err := os.Stat(filepath.Join("..", "..", "..", input)); err != nil {
					t.Errorf("%s: %v", target.Name, err)
				}
			}
		}
		return names
	}
	for _, purpose := range []string{
		"run", "chart", "browser", "web", "lint", "fuzz", "monitoring", "oldest", "idp",
		"compat", "others", "node",
	} {
		names(purpose, nil)
	}
	if got := names("run", map[string]string{"KUBECONFIG_EXTERNAL": "there"}); slices.Contains(got, "kube-apiserver") ||
		!slices.Contains(got, "kubectl") {
		t.Errorf("for a cluster of others: %v", got)
	}
	if got := names("run", map[string]string{"AWS_ENDPOINT": "http://there"}); slices.Contains(got, "moto") {
		t.Errorf("for an endpoint of others: %v", got)
	}
	if _, err := For("tea", os.Getenv); err == nil {
		t.Error("something is built for tea")
	}
}

// TestStampsAreOfTheVersionsThatAreBuilt checks that the stamps have the version of the Kubernetes module.
func TestStampsAreOfTheVersionsThatAreBuilt(t *testing.T) {
	for module, stamps := range map[string]string{
		controlPlaneModule: APIServer.program.ldflags,
		oldestModule:       oldest("kubectl").program.ldflags,
	} {
		file, err := os.ReadFile(filepath.Join("..", "..", "..", module, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(file), "k8s.io/kubernetes ")
		version := strings.Fields(rest)[0]
		if !strings.Contains(stamps, ".gitVersion="+version+" ") {
			t.Errorf("%s has %s, and is stamped %s", module, version, stamps)
		}
		if _, commit, _ := strings.Cut(stamps, "gitCommit="); len(strings.Fields(commit)[0]) != 40 {
			t.Errorf("%s: a commit has 40 digits: %s", module, stamps)
		}
	}
}
