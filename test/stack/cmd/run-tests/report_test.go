package main

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		reason, events, summary string
		says, hides             []string
	}{
		{
			reason: "the output of a test that passes is of no interest",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Elapsed":1.5}`,
			summary: "1 passed, 0 failed, 0 skipped", says: []string{"pass p: 1 tests, 1.5 s"},
			hides: []string{"noise"},
		},
		{
			reason: "a failure tells what it wrote",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"the cause\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}`,
			summary: "0 passed, 1 failed, 1 skipped", says: []string{"the cause", "fail p: 2 tests"},
		},
		{
			reason: "so does a test that never ended",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: boom\n"}
{"Action":"fail","Package":"p"}`,
			summary: "0 passed, 0 failed, 0 skipped", says: []string{"panic: boom", "fail p"},
		},
		{
			reason: "a build that fails, and words that are no events",
			events: `{"Action":"build-output","ImportPath":"p","Output":"undefined: x\n"}
go: no such module
{"Action":"fail","Package":"p"}`,
			summary: "0 passed, 0 failed, 0 skipped", says: []string{"undefined: x", "no such module", "fail p"},
		},
		{
			reason:  "a package without tests is not mentioned",
			events:  `{"Action":"skip","Package":"p"}`,
			summary: "0 passed, 0 failed, 0 skipped", hides: []string{"skip"},
		},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			var out strings.Builder
			r := newReport(&out)
			if err := r.read(strings.NewReader(tt.events), 0); err != nil {
				t.Fatal(err)
			}
			if r.summary() != tt.summary {
				t.Errorf("%s, want %s", r.summary(), tt.summary)
			}
			for _, want := range tt.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("does not say %q:\n%s", want, &out)
				}
			}
			for _, no := range tt.hides {
				if strings.Contains(out.String(), no) {
					t.Errorf("says %q:\n%s", no, &out)
				}
			}
		})
	}
}

func TestTagged(t *testing.T) {
	files := fstest.MapFS{
		"a/a_test.go":                {Data: []byte("//go:build integration\n\npackage a\n")},
		"b/b_test.go":                {Data: []byte("package b\n// integration\n")},
		"c/c_test.go":                {Data: []byte("//go:build linux && integration\n")},
		"d/d.go":                     {Data: []byte("//go:build integration\n")},
		".run/e_test.go":             {Data: []byte("//go:build integration\n")},
		"web/node_modules/f_test.go": {Data: []byte("//go:build integration\n")},
	}
	got, err := tagged(files, "integration")
	if want := []string{"./a", "./c"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if got, err := tagged(files, "browser"); err == nil {
		t.Errorf("%v for a tag that nobody has", got)
	}
}
