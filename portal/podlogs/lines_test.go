package podlogs

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func linesOf(text string) *Lines { return NewLines(io.NopCloser(strings.NewReader(text)), nil) }

func TestLinesAreCleanText(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain text stays":                         {"GET /healthz 200\n", "GET /healthz 200"},
		"markup is text":                           {"<script>steal()</script>\n", "<script>steal()</script>"},
		"the last line needs no end":               {"done", "done"},
		"an empty line is one":                     {"\n", ""},
		"a tab stays":                              {"a\tb\n", "a\tb"},
		"the end of a Windows line goes":           {"a\r\n", "a"},
		"a return within a line hides nothing":     {"secret\rshown\n", "secret shown"},
		"colours go":                               {"\x1b[1;31mERROR\x1b[0m x\n", "ERROR x"},
		"cursor movements go":                      {"a\x1b[2J\x1b[Hb\n", "ab"},
		"a title of the terminal goes":             {"\x1b]0;owned\x07x\n", "x"},
		"a title with the other end goes":          {"\x1b]0;owned\x1b\\x\n", "x"},
		"a hyperlink keeps its text":               {"\x1b]8;;http://x\x07text\x1b]8;;\x07\n", "text"},
		"the sequence of one character goes":       {"\u009b31mred\n", "red"},
		"an escape that never ends goes":           {"a\x1b[31", "a31"},
		"a lone escape goes":                       {"a\x1b\n", "a"},
		"bells, nulls and backspaces go":           {"a\x00b\x07c\x08d\x7f\n", "abcd"},
		"marks that turn the direction of text go": {"a\u202eb\u2066c\u200fd\n", "abcd"},
		"separators of lines do not separate":      {"a\u2028b\u2029c\u0085d\n", "a b cd"},
		"what is no UTF-8 is marked":               {"a\xff\xfeb\n", "a\uFFFDb"},
		"emoji that are joined stay":               {"👩\u200d💻\n", "👩\u200d💻"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := linesOf(c.in).Next()
			if err != nil || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestALongLineIsCutAndTheNextOneIsWhole(t *testing.T) {
	l := linesOf(strings.Repeat("x", 3*MaxLine+7) + "\nnext\n" + strings.Repeat("y", 2*MaxLine))
	first, err := l.Next()
	if err != nil || !strings.HasSuffix(first, "… (the line is longer)") || len(first) > MaxLine+40 {
		t.Errorf("%d bytes, %v", len(first), err)
	}
	if second, err := l.Next(); second != "next" || err != nil {
		t.Errorf("%q, %v", second, err)
	}
	if third, err := l.Next(); len(third) < MaxLine || err != nil {
		t.Errorf("%d bytes, %v", len(third), err)
	}
	if _, err := l.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

func TestLastKeepsTheNewestLines(t *testing.T) {
	var many, wide strings.Builder
	for i := range MaxLines + 10 {
		fmt.Fprintf(&many, "line %d\n", i)
	}
	for i := range 300 {
		fmt.Fprintf(&wide, "%d %s\n", i, strings.Repeat("x", MaxLine-10))
	}
	for name, c := range map[string]struct {
		in, first, last string
		cut             bool
	}{
		"a short log":         {"a\nb\n", "a", "b", false},
		"more lines than fit": {many.String(), "line 10", fmt.Sprintf("line %d", MaxLines+9), true},
		"more bytes than fit": {wide.String(), "172 x", "299 x", true},
	} {
		t.Run(name, func(t *testing.T) {
			lines, cut, err := linesOf(c.in).Last()
			if err != nil || cut != c.cut {
				t.Fatalf("%d lines, cut %v, %v, want cut %v", len(lines), cut, err, c.cut)
			}
			first, last := lines[0], lines[len(lines)-1]
			if !strings.HasPrefix(first, c.first) || !strings.HasPrefix(last, c.last) {
				t.Fatalf("lines from %.20q to %.20q, want %q to %q", first, last, c.first, c.last)
			}
			if size := len(strings.Join(lines, "\n")); size > MaxBytes || int64(len(lines)) > MaxLines {
				t.Errorf("%d lines, %d bytes", len(lines), size)
			}
		})
	}
}

func TestALogThatBreaksOffIsNotTheUsersFault(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, "one\n")
		_ = w.CloseWithError(errors.New("connection reset"))
	}()
	lines, _, err := NewLines(r, nil).Last()
	var away *BrokenError
	if !errors.As(err, &away) || len(lines) != 1 {
		t.Errorf("%q, %v", lines, err)
	}
}

// FuzzLine checks that any line that an application writes becomes one line of plain text.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[31mred", "a\rb", "\x1b]0;x\x07", "\xff", "\u202e", "\x1b\x1b[["} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := CleanLine(in)
		if strings.ContainsAny(got, "\r\n\x1b\x00\x07\u009b\u202e\u2028") || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%q became %q", in, got)
		}
	})
}
