package fuzz

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// module writes a repository with one package that has this test file, and returns its folder.
func module(t *testing.T, tests string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n", "a/a.go": "package a\n",
		"a/a_test.go": tests,
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// output collects the output, and calls told with all of it after each write.
type output struct {
	mu   sync.Mutex
	text strings.Builder
	told func(string)
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = o.text.Write(b)
	if o.told != nil {
		o.told(o.text.String())
	}
	return len(b), nil
}

func TestWhatAFuzzTargetFindsIsTold(t *testing.T) {
	for reason, c := range map[string]struct{ tests, want string }{
		"an input": {
			"package a\n\nimport \"testing\"\n\nfunc FuzzLong(f *testing.F) {\n\tf.Fuzz(func(t *testing.T, s string) " +
				"{\n\t\tif s != \"\" {\n\t\t\tt.Error(s)\n\t\t}\n\t})\n}\n",
			"go test -run='^FuzzLong$/^",
		},
		"a test that is known": {
			"package a\n\nimport \"testing\"\n\nfunc FuzzNone(f *testing.F) {\n\tf.Add(\"\")\n\tf.Fuzz(func(t " +
				"*testing.T, s string) { t.Error(s) })\n}\n",
			"one that is known fails.\nTo repeat it: go test -run='^FuzzNone$' ./a",
		},
		"no Go": {"package a\n\nfunc FuzzBroken(f *testing.F) {}\n", "a does not compile (exit status 1)"},
	} {
		t.Run(reason, func(t *testing.T) {
			root, out := module(t, c.tests), &output{}
			err := job{root: root, each: time.Minute, out: out}.do(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v\n%s", err, out.text.String())
			}
			_, at, written := strings.Cut(err.Error(), "wrote what to ")
			if at, _, _ = strings.Cut(at, ":"); written {
				if _, err := os.Stat(filepath.Join(root, at)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

const endless = "package a\n\nimport \"testing\"\n\nfunc FuzzAll(f *testing.F) {\n\tf.Fuzz(func(*testing.T, string) " +
	"{})\n}\n"

func TestNothingFoundIsTold(t *testing.T) {
	out := &output{}
	if err := (job{root: module(t, endless), each: time.Second, out: out}).do(t.Context()); err != nil ||
		!strings.Contains(out.text.String(), "Nothing was found, in ") {
		t.Errorf("%v\n%s", err, out.text.String())
	}
}

func TestAnInterruptionEndsAFuzzTarget(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &output{told: func(all string) {
		if strings.Contains(all, "execs: ") {
			interrupt()
		}
	}}
	err := job{root: module(t, endless), each: time.Minute, out: out}.do(ctx)
	if err == nil || err.Error() != "context canceled: it did not come to its end" {
		t.Errorf("%v\n%s", err, out.text.String())
	}
}

func TestTimeThatIsUpIsNoFailure(t *testing.T) {
	for said, want := range map[string]bool{
		"fuzz: elapsed: 1s, execs: 9 (9/sec)\n--- FAIL: FuzzAll (1.00s)\n    context deadline exceeded\nFAIL\n": true,
		"--- FAIL: FuzzAll (0.00s)\n    failure while testing seed corpus entry: context deadline exceeded\n":   false,
		"--- FAIL: FuzzAll (0.00s)\n    a_test.go:7: wrong\n":                                                   false,
	} {
		if got := timeIsUp(said); got != want {
			t.Errorf("%q: %t", said, got)
		}
	}
}
