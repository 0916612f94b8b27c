package fuzz

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTheNewestInputsAreKept(t *testing.T) {
	for reason, c := range map[string]struct {
		most  int
		bytes int64
		want  []string
	}{
		"all have room":              {most: 5, bytes: 50, want: []string{"0", "1", "2", "3", "4"}},
		"no more than so many":       {most: 2, bytes: 50, want: []string{"3", "4"}},
		"no more than so many bytes": {most: 5, bytes: 35, want: []string{"2", "3", "4"}},
		"one that is too large":      {most: 5, bytes: 9},
	} {
		t.Run(reason, func(t *testing.T) {
			folder, now := t.TempDir(), time.Now()
			for i := range 5 {
				at := filepath.Join(folder, fmt.Sprint(i))
				written := now.Add(time.Duration(i) * time.Minute)
				if err := os.WriteFile(at, []byte(strings.Repeat("x", 10)), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(at, written, written); err != nil {
					t.Fatal(err)
				}
			}
			if err := forget(folder, c.most, c.bytes); err != nil {
				t.Fatal(err)
			}
			if got := inFolder(t, folder); !slices.Equal(got, c.want) {
				t.Errorf("kept %v, want %v", got, c.want)
			}
		})
	}
}

func inFolder(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestWhatAFuzzTargetBeginsWithIsBounded runs a real target whose corpus from an earlier run is too large.
func TestWhatAFuzzTargetBeginsWithIsBounded(t *testing.T) {
	root := module(t, endless)
	_, seen := job{root: root}.compiled("a")
	folder := filepath.Join(seen, "FuzzAll")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	long := fmt.Sprintf("go test fuzz v1\nstring(%q)\n", strings.Repeat("x", 1<<10))
	for i := range 2 * mostSeen {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("old-%d", i)), []byte(long), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := &output{}
	if err := (job{root: root, each: time.Second, out: out}).do(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, out.text.String())
	}
	old := slices.DeleteFunc(inFolder(t, folder), func(name string) bool { return !strings.HasPrefix(name, "old-") })
	if len(old) != mostSeen {
		t.Errorf("%d inputs of the earlier run are left, want %d", len(old), mostSeen)
	}
}
