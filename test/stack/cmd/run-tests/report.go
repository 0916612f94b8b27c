package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
	cpu                           float64 // seconds, of the test's process and all that it started
}

func (e event) key() [2]string { return [2]string{e.Package, e.Test} }

// topLevel reports whether the event is of a test that is no subtest.
func (e event) topLevel() bool { return e.Test != "" && !strings.Contains(e.Test, "/") }

// report counts tests, prints each package's result, and buffers the output of tests until it is known whether they
// failed. Several commands can write to it.
type report struct {
	mu                      sync.Mutex
	out                     io.Writer
	passed, failed, skipped int
	failures                []error
	output                  map[[2]string]*strings.Builder // by package and test
	tests                   map[string]int                 // by package
	ended                   map[string]bool                // packages
	times                   []event                        // of top-level tests
	cpu                     map[string]float64             // CPU seconds by process, of all stacks
	began                   map[[2]string]float64          // CPU seconds at the start of a test
	measures                bool                           // whether to read the CPU seconds of each test
}

func newReport(out io.Writer) *report {
	return &report{
		out: out, output: map[[2]string]*strings.Builder{}, tests: map[string]int{}, ended: map[string]bool{},
		cpu: map[string]float64{}, began: map[[2]string]float64{},
	}
}

// read reads the events of the process pid until they end.
func (r *report) read(events io.Reader, pid int) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.take(line, pid)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Write parses events, and passes on all other output.
func (r *report) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(text)
}

func (r *report) say(format string, args ...any) { _, _ = fmt.Fprintf(r, format, args...) }

func (r *report) take(line []byte, pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var e event
	if json.Unmarshal(line, &e) != nil {
		_, _ = r.out.Write(line) // not an event: an error of the go command
		return
	}
	switch e.Action {
	case "build-output":
		_, _ = io.WriteString(r.out, e.Output)
	case "output":
		_, _ = r.buffer(e).WriteString(e.Output)
		r.addCPU(e.Output)
	case "run":
		if e.topLevel() && r.measures {
			r.began[e.key()] = usedBy(pid)
		}
	case "pass", "fail", "skip":
		if e.topLevel() && r.measures {
			e.cpu = usedBy(pid) - r.began[e.key()]
		}
		r.finish(e)
	}
}

func (r *report) buffer(e event) *strings.Builder {
	if r.output[e.key()] == nil {
		r.output[e.key()] = &strings.Builder{}
	}
	return r.output[e.key()]
}

func (r *report) finish(e event) {
	if e.Test == "" {
		r.finishPackage(e)
		return
	}
	r.tests[e.Package]++
	if e.topLevel() {
		r.times = append(r.times, e)
	}
	switch e.Action {
	case "pass":
		r.passed++
	case "skip":
		r.skipped++
	case "fail":
		r.failed++
		r.failures = append(r.failures, fmt.Errorf("%s %s", e.Package, e.Test))
		_, _ = io.WriteString(r.out, r.buffer(e).String())
	}
	delete(r.output, e.key())
}

// died records that the process of a package ended with an error: test2json reports that only if the process itself
// could print it.
func (r *report) died(pkg string, after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended[pkg] {
		r.finishPackage(event{Action: "fail", Package: pkg, Elapsed: after.Seconds()})
	}
}

func (r *report) finishPackage(e event) {
	r.ended[e.Package] = true
	if e.Action == "fail" {
		// What remains: the package's own output, and that of tests that did not end (a panic, a timeout).
		for key, text := range r.output {
			if key[0] == e.Package {
				_, _ = io.WriteString(r.out, text.String())
			}
		}
		r.failures = append(r.failures, errors.New(e.Package))
	}
	for key := range r.output {
		if key[0] == e.Package {
			delete(r.output, key)
		}
	}
	if r.tests[e.Package] == 0 && e.Action != "fail" {
		return // without tests
	}
	_, _ = fmt.Fprintf(r.out, "%-4s %s: %d tests, %.1f s\n", e.Action, e.Package, r.tests[e.Package], e.Elapsed)
}

func (r *report) summary() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", r.passed, r.failed, r.skipped)
}

// slowest returns the n slowest tests, each with its seconds.
func (r *report) slowest(n int) string {
	slices.SortStableFunc(r.times, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	var all []string
	for _, e := range r.times[:min(n, len(r.times))] {
		all = append(all, fmt.Sprintf("%s %.1f", e.Test, e.Elapsed))
	}
	return strings.Join(all, ", ")
}

// addCPU adds a line that a stack prints when it ends, such as "CPU seconds: etcd 1.5, moto 2.0".
func (r *report) addCPU(line string) {
	_, list, found := strings.Cut(strings.TrimSpace(line), "CPU seconds: ")
	if !found {
		return
	}
	for one := range strings.SplitSeq(list, ", ") {
		name, seconds, _ := strings.Cut(one, " ")
		if n, err := strconv.ParseFloat(seconds, 64); err == nil {
			r.cpu[name] += n
		}
	}
}

// processors returns the CPU seconds of each process, largest first; "" without stacks.
func (r *report) processors() string {
	names := slices.SortedFunc(maps.Keys(r.cpu), func(a, b string) int { return cmp.Compare(r.cpu[b], r.cpu[a]) })
	var all []string
	for _, name := range names {
		all = append(all, fmt.Sprintf("%s %.0f", name, r.cpu[name]))
	}
	return strings.Join(all, ", ")
}

// write writes a line for every test to a file, slowest first: its seconds, its CPU seconds, its package, its name.
// CPU seconds are 0 where several packages run in one command, and where tests of a package run in parallel they
// count what ran beside the test.
func (r *report) write(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	r.slowest(0)
	var all strings.Builder
	for _, e := range r.times {
		_, _ = fmt.Fprintf(&all, "%.2f\t%.2f\t%s\t%s\n", e.Elapsed, e.cpu, e.Package, e.Test)
	}
	return os.WriteFile(file, []byte(all.String()), 0o600)
}

// names returns the failures as one error, or nil.
func (r *report) names() error { return errors.Join(r.failures...) }
