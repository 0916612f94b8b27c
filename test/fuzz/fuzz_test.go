package fuzz

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/portico-platform/portico/test/campaign"
)

func TestFlagsThatMakeNoSenseAreSaid(t *testing.T) {
	for want, args := range map[string][]string{
		"want whole seconds": {"-rest", "1500ms"},
		"-fuzz.rest -1s":     {"-rest", "-1s"},
		"-fuzz.each 1ms":     {"-each", "1ms"},
	} {
		flags, c := flag.NewFlagSet("fuzz", flag.ContinueOnError), Campaign()
		c.Flags(flags)
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context(), campaign.Run{Out: io.Discard}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestTheSeedIsTold(t *testing.T) {
	var out bytes.Buffer
	if err := (job{seed: 42, out: &out}).do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "SEED=42 make fuzz") {
		t.Errorf("%q", out.String())
	}
}

func TestEveryFuzzTargetIsFound(t *testing.T) {
	found, err := findTargets(fstest.MapFS{
		"a/b/x_test.go":            {Data: []byte("package b\n\nfunc FuzzOne(f *testing.F) {}\n\nfunc FuzzTwo(f *testing.F) {}\n")},
		"a/x.go":                   {Data: []byte("package a\n\nfunc FuzzNone(f *testing.F) {}\n")},
		"node_modules/a/x_test.go": {Data: []byte("func FuzzOther(f *testing.F) {}\n")},
		".cache/a/x_test.go":       {Data: []byte("func FuzzOther(f *testing.F) {}\n")},
		"c/deep_test.go":           {Data: []byte("package c\n\n// func FuzzNot(f) {}\n")},
	})
	if want := []target{{"a/b", "FuzzOne"}, {"a/b", "FuzzTwo"}}; err != nil || !slices.Equal(found, want) {
		t.Errorf("found %v, %v, want %v", found, err, want)
	}
	if _, err := findTargets(fstest.MapFS{}); err == nil {
		t.Error("nothing to do is no error")
	}
	ours, err := findTargets(os.DirFS("../.."))
	if err != nil || len(ours) < 6 {
		t.Errorf("of ours: %v %v", ours, err)
	}
}

func TestPanicsOfThePortalAreFound(t *testing.T) {
	log := filepath.Join(t.TempDir(), "portal.log")
	for text, found := range map[string]bool{
		"level=INFO msg=request verb=GET\n":                           false,
		"level=INFO msg=request\nlevel=ERROR msg=panic value=x y=z\n": true,
	} {
		if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := (job{}).panics(log); (err != nil) != found {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestWhatSchemathesisEndsWithIsUnderstood(t *testing.T) {
	for script, want := range map[string]string{
		"exit 0":        "",
		"exit 1":        "SEED=7 make fuzz sends the same requests",
		"exit 2":        "schemathesis, as platform-admin, did not do its work (exit status 2)",
		"kill -TERM $$": "did not do its work (signal: terminated)",
	} {
		err := job{seed: 7}.judge(exec.CommandContext(t.Context(), "sh", "-c", script).Run(),
			sender{user: "platform-admin"}, "http://127.0.0.1:1")
		if (err == nil) != (want == "") || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: error = %v, want %q", script, err, want)
		}
	}
	if err := (job{}).judge(exec.ErrNotFound, sender{}, ""); err == nil ||
		!strings.Contains(err.Error(), "did not do its work") {
		t.Error(err)
	}
}
