package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPartsRunEveryTestOnce(t *testing.T) {
	tests := []string{"TestA", "TestB", "TestC", "TestD", "TestE"}
	parts := job{name: "p", dir: "./p"}.deal(tests, 3)
	runs := map[string]int{}
	for i, part := range parts {
		if want := []string{"p (1 of 3)", "p (2 of 3)", "p (3 of 3)"}[i]; part.name != want || part.dir != "./p" {
			t.Errorf("part %+v, want the name %s", part, want)
		}
		for _, test := range append(tests, "TestThatIsNotListed") {
			if !slices.Contains(part.skip, test) {
				runs[test]++
			}
		}
	}
	for _, test := range tests {
		if runs[test] != 1 {
			t.Errorf("%s runs %d times", test, runs[test])
		}
	}
	if runs["TestThatIsNotListed"] == 0 {
		t.Error("a test that is not listed is lost")
	}
}

func TestTestsIn(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b_test.go": "func TestLast(t *testing.T) {}\n",
		"a_test.go": "func TestMain(m *testing.M) {}\nfunc helper() {}\nfunc TestFirst(t *testing.T) {}\nfunc " +
			"FuzzIt(f *testing.F) {}\nfunc ExampleIt() {}\n// func TestNone(\n",
		"c.go": "func TestIsNone() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := testsIn(dir)
	if want := []string{"TestFirst", "FuzzIt", "ExampleIt", "TestLast"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// suiteOf writes a module with one package that fails and one that passes, and changes to its folder.
func suiteOf(t *testing.T) suite {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":          "module example.com/suite\n\ngo 1.26\n",
		"many/a_test.go":  "//go:build slow\n\npackage many\n\nimport \"testing\"\n\nfunc TestGood(t *testing.T) {}\nfunc TestBad(t *testing.T) { t.Error(\"the cause\") }\nfunc TestFine(t *testing.T) {}\n",
		"other/b_test.go": "//go:build slow\n\npackage other\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {}\nfunc TestDies(t *testing.T) { panic(\"boom\") }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	s, err := parse([]string{
		"-name", "slow", "-tag", "slow", "-processes", "2", "-split", "many", "--", "-count=1",
		"-timeout=1m",
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAPartThatFailsSaysWhy(t *testing.T) {
	s := suiteOf(t)
	var out strings.Builder
	r := newReport(&out)
	err := s.apart(t.Context(), r)
	if got, want := r.summary(), "3 passed, 2 failed, 0 skipped"; got != want || err == nil {
		t.Errorf("%s and the error %v, want %s", got, err, want)
	}
	for _, want := range []string{
		"the cause", "pass many (1 of 4): 1 tests", "fail many (2 of 4): 1 tests",
		"panic: boom", "fail other: 2 tests",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("does not say %q:\n%s", want, &out)
		}
	}
	if names := r.names().Error(); !strings.Contains(names, "many (2 of 4) TestBad") {
		t.Errorf("names %s", names)
	}
}

func TestAPackageThatIsNotThereCannotBeSplit(t *testing.T) {
	s := suiteOf(t)
	s.split = "mny"
	if err := s.apart(t.Context(), newReport(&strings.Builder{})); err == nil ||
		!strings.Contains(err.Error(), "-split mny") {
		t.Error(err)
	}
	for _, args := range [][]string{{"-split", "many", "-tag", "slow"}, {"-processes", "2"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
