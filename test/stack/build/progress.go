package build

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// progress shows the progress of a build. It knows how much source there is to compile, and how fast this machine
// compiles: from earlier builds, and from this one while it runs.
type progress struct {
	out      io.Writer
	terminal bool
	began    time.Time
	pace     string // the file with the measured speed of this machine

	mu        sync.Mutex
	pending   map[string]int64 // weights of packages that are still to compile
	begun     map[string]bool
	compiling []int64 // weights, at most as many as there are cores
	done      int64
	working   time.Time // when the first package started
	expected  float64   // bytes a second, from earlier builds
	others    string
	downloads int
	said      time.Time
	line      int // length of the line on the terminal
	stop      func()
}

const (
	refresh = time.Second // of the line on a terminal
	// betweenLines is how often a log gets a line.
	betweenLines = 15 * time.Second
	// usualPace is the assumed speed of a core that has not been measured yet, in bytes of source a second.
	usualPace = 450_000
)

func newProgress(out io.Writer, root string) *progress {
	p := &progress{
		out: out, terminal: isTerminal(out), began: time.Now(), pending: map[string]int64{}, begun: map[string]bool{},
		pace: filepath.Join(root, ".cache", "built", "pace"), expected: usualPace * float64(runtime.NumCPU()),
	}
	if data, err := os.ReadFile(filepath.Clean(p.pace)); err == nil {
		if pace, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64); err == nil && pace > 0 {
			p.expected = pace
		}
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(refresh)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.say(false)
			case <-done:
				return
			}
		}
	}()
	p.stop = func() { close(done); <-stopped }
	return p
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// expect adds a package to the packages to compile.
func (p *progress) expect(pkg string, weight int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.begun[pkg] {
		p.pending[pkg] = weight
	}
}

// heard parses a progress line of the go command; false means that the line is something else.
func (p *progress) heard(line string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if strings.HasPrefix(line, "go: downloading ") {
		p.downloads++
		return true
	}
	if line == "" || strings.ContainsAny(line, " :#\t") {
		return false
	}
	p.begin(line)
	return true
}

// begin counts as done the packages that started before those that are compiled now.
func (p *progress) begin(pkg string) {
	if p.begun[pkg] {
		return // counted already, for another module
	}
	if p.working.IsZero() {
		p.working = time.Now()
	}
	p.compiling = append(p.compiling, p.pending[pkg])
	p.begun[pkg] = true
	delete(p.pending, pkg)
	if len(p.compiling) > runtime.NumCPU() {
		p.done += p.compiling[0]
		p.compiling = p.compiling[1:]
	}
}

// beside records what is built in parallel to the programs.
func (p *progress) beside(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.others = name
}

// say writes the progress, at once on a terminal, now and then into a log.
func (p *progress) say(last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.text()
	switch {
	case p.terminal && last:
		_, _ = fmt.Fprintf(p.out, "\r%*s\r", p.line, "")
	case p.terminal:
		_, _ = fmt.Fprintf(p.out, "\r%-*s", p.line, text)
		p.line = len(text)
	// most builds have nothing to do
	case len(p.begun)+p.downloads == 0 && p.others == "" && time.Since(p.began) < worthSaying:
	case !last && (p.said.IsZero() || time.Since(p.said) >= betweenLines):
		_, _ = fmt.Fprintln(p.out, text)
		p.said = time.Now()
	}
}

func (p *progress) text() string {
	at := clock(time.Since(p.began))
	switch {
	case len(p.begun) == 0 && p.downloads > 0:
		return fmt.Sprintf("%s  downloading Go modules, %d so far", at, p.downloads)
	case len(p.begun) == 0 && p.others != "":
		return fmt.Sprintf("%s  installing %s", at, p.others)
	case len(p.begun) == 0:
		return fmt.Sprintf("%s  looking what is to be compiled", at)
	case len(p.pending) == 0:
		return fmt.Sprintf("%s  compiled %d packages", at, len(p.begun))
	}
	return fmt.Sprintf("%s  compiled %d of %d packages, %s left", at, len(p.begun), len(p.begun)+len(p.pending),
		minutes(p.left(time.Since(p.working))))
}

// left estimates the remaining time, at first from earlier builds, and increasingly from this one.
func (p *progress) left(elapsed time.Duration) time.Duration {
	rest := p.rest()
	// The earlier builds count like this much of the work: half a minute of it, but at least a tenth of the build and
	// at most a fifth.
	all := float64(p.done + rest)
	before := max(all/10, min(30*p.expected, all/5))
	pace := (float64(p.done) + before) / (elapsed.Seconds() + before/p.expected)
	return time.Duration(float64(rest) / pace * float64(time.Second))
}

// rest returns the weight of what is not done yet.
func (p *progress) rest() int64 {
	var rest int64
	for _, weight := range p.compiling {
		rest += weight
	}
	for _, weight := range p.pending {
		rest += weight
	}
	return rest
}

// end removes the line from a terminal, and stores the measured speed if enough was measured.
func (p *progress) end(err error) {
	p.stop()
	p.say(true)
	const enough = 20_000_000
	if total := p.done + p.rest(); err == nil && total > enough {
		pace := float64(total) / time.Since(p.working).Seconds()
		_ = os.WriteFile(p.pace, fmt.Appendf(nil, "%.0f\n", pace), 0o600) // without it, the next build uses its default
	}
}

func clock(d time.Duration) string {
	return fmt.Sprintf("%2d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// minutes returns a duration for people to read.
func minutes(d time.Duration) string {
	switch {
	case d < 20*time.Second:
		return "a few seconds"
	case d < 100*time.Second:
		return fmt.Sprintf("about %d s", (int(d.Seconds())+5)/10*10)
	default:
		return fmt.Sprintf("about %d min", int(d.Minutes()+0.5))
	}
}
