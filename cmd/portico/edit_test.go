package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

func TestEditing(t *testing.T) {
	for _, c := range []struct {
		name   string
		edits  []string // replacements of Retain, one for each edit
		put    reply
		code   int
		want   string
		puts   int
		editor error
	}{
		{"nothing", []string{"Retain"}, reply{}, 0, "Nothing has changed.", 0, nil},
		{"one field", []string{"Delete"}, reply{status: 200, body: bucket("a", "True", "")}, 0, "Changed bucket a in payments.", 1, nil},
		{
			"what the portal refuses, given up",
			[]string{"Burn", "Burn"},
			reply{
				status: 422,
				body:   `{"detail": "not valid", "errors": [{"location": "body.spec.deletionPolicy", "message": "is odd"}]}`,
			},
			1, "is kept in", 1, nil,
		},
		{"what somebody else changed", []string{"Delete"}, reply{status: 412, body: `{"detail": "it is another one"}`}, 1, "somebody else changed it", 1, nil},
		{"an editor that fails", []string{"Delete"}, reply{}, 1, "the editor vi failed", 0, context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			p := newPortal(t)
			p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""), "ETag", etag)
			p.on("PUT "+buckets+"/a", c.put.status, c.put.body)
			term := newTerminal(t, p.url)
			term.vars["EDITOR"] = "vi"
			n := 0
			term.edit = func(_ context.Context, _, path string) error {
				b, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				if n > 0 && !strings.HasPrefix(string(b), "#portico: not valid\n#portico:   spec.deletionPolicy: "+
					"is odd\n") {
					t.Errorf("the second file begins with %q", b)
				}
				n++
				text := strings.Replace(string(b), "deletionPolicy: Retain", "deletionPolicy: "+c.edits[n-1], 1)
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					return err
				}
				return c.editor
			}
			_, said := term.run(c.code, "edit", "bucket", "a")
			if !strings.Contains(said, c.want) {
				t.Errorf("said %q, want %q", said, c.want)
			}
			puts := 0
			for _, asked := range p.asked {
				if strings.HasPrefix(asked, "PUT ") {
					puts++
				}
			}
			if left, _ := os.ReadDir(os.Getenv("TMPDIR")); puts != c.puts || n != len(c.edits) ||
				(len(left) == 0) != (c.code == 0) {
				t.Errorf("%d PUTs, %d edits, %d files left", puts, n, len(left))
			}
		})
	}
}
