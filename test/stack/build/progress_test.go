package build

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTheTimeThatIsLeftIsTrue simulates a build of a hundred packages of 1 MB each, one every 10 s, which takes 1000 s:
// the estimate must soon say so, regardless of the initial one.
func TestTheTimeThatIsLeftIsTrue(t *testing.T) {
	for _, tt := range []struct {
		reason string
		kept   string // bytes a second
	}{
		{"nothing is known of the machine", ""},
		{"builds before were as fast", "100000"},
		{"builds before were four times as fast", "400000"},
		{"what is kept is no number", "fast"},
	} {
		synctest.Test(t, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, map[string]string{".cache/built/pace": tt.kept})
			p := newProgress(&bytes.Buffer{}, root)
			for i := range 100 {
				p.expect(fmt.Sprintf("example.com/p%d", i), 1_000_000)
			}
			for i := range 100 {
				p.heard(fmt.Sprintf("example.com/p%d", i))
				p.mu.Lock()
				left, right := p.left(time.Since(p.working)), time.Duration(100-i)*10*time.Second
				p.mu.Unlock()
				low, high, judged := right*7/10, right*14/10+time.Minute, i >= 40 && i <= 95
				if judged && (left < low || left > high) {
					t.Errorf("%s: after %d packages left() = %v, want %v to %v", tt.reason, i, left, low, high)
				}
				time.Sleep(10 * time.Second)
			}
			p.end(nil)
			kept, err := os.ReadFile(filepath.Join(root, ".cache", "built", "pace"))
			if err != nil || strings.TrimSpace(string(kept)) != "100000" {
				t.Errorf("%s: kept %q, %v", tt.reason, kept, err)
			}
		})
	}
}

func TestProgressIsSaidFromTheFirstSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&out, t.TempDir())
		said := func() string {
			p.mu.Lock()
			defer p.mu.Unlock()
			defer out.Reset()
			return out.String()
		}
		expect := func(want string) {
			t.Helper()
			if got := said(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		p.beside("moto")
		time.Sleep(1500 * time.Millisecond)
		expect(" 0:01  installing moto\n")
		p.heard("go: downloading example.com/a v1.0.0")
		time.Sleep(15 * time.Second)
		expect(" 0:16  downloading Go modules, 1 so far\n")
		p.expect("example.com/a", 30*usualPace*int64(runtime.NumCPU()))
		p.expect("example.com/b", 90*usualPace*int64(runtime.NumCPU()))
		for _, line := range []struct {
			text     string
			progress bool
		}{{"# example.com/a", false}, {"a.go:1:2: undefined: x", false}, {"example.com/a", true}} {
			if got := p.heard(line.text); got != line.progress {
				t.Errorf("heard(%q) = %v, want %v", line.text, got, line.progress)
			}
		}
		p.expect("example.com/a", 30) // compiled already
		time.Sleep(15 * time.Second)
		expect(" 0:31  compiled 1 of 2 packages, about 3 min left\n")
		p.heard("example.com/b")
		time.Sleep(15 * time.Second)
		expect(" 0:46  compiled 2 packages\n")
		p.end(nil)
	})
}

func TestTimesAsPeopleSayThem(t *testing.T) {
	for d, want := range map[time.Duration]string{
		3 * time.Second: "a few seconds", 44 * time.Second: "about 40 s", 99 * time.Second: "about 100 s",
		149 * time.Second: "about 2 min", 151 * time.Second: "about 3 min", 10 * time.Minute: "about 10 min",
	} {
		if got := minutes(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
	if got := clock(754 * time.Second); got != "12:34" {
		t.Error(got)
	}
}
