package main

import (
	"slices"
	"strings"
	"testing"
)

func TestDeletingAsksForTheName(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		yes         bool
		code        int
	}{
		{"the name", "a\n", false, 0}, {"another name", "b\n", false, 1}, {"nothing", "", false, 1}, {"nobody is asked", "", true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""), "ETag", etag)
			p.on("DELETE "+buckets+"/a", 202, bucket("a", "True", ""))
			term := newTerminal(t, p.url)
			term.in, term.asks = strings.NewReader(c.typed), true
			args := []string{"delete", "bucket", "a"}
			if c.yes {
				args = append(args, "--yes")
			}
			_, said := term.run(c.code, args...)
			if slices.Contains(p.asked, "DELETE "+buckets+"/a") != (c.code == 0) {
				t.Errorf("asked %q", p.asked)
			}
			if !c.yes && !strings.Contains(said, "bucket a in payments will be forgotten by Portico; what it stands for in AWS stays.") {
				t.Errorf("does not say what is lost: %s", said)
			}
		})
	}
}
