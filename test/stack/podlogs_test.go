package stack

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestTheLogOfRunningPodsGrowsAndBeginsAnew(t *testing.T) {
	l := &podLogs{dir: t.TempDir()}
	if err := l.write(); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, step := range []struct {
		what string
		n    int
		want int // lines
	}{
		{"a request more", 1, 3},
		{"another", logLines - 1, 4},
		{"the last that there is room for", logLines, 2},
		{"the first after that", logLines + 1, 3},
	} {
		if err := l.add(at, step.n); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(l.path("running"))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(data), "\n"); got != step.want {
			t.Errorf("%s: %d lines, want %d", step.what, got, step.want)
		}
		if prefix := "2026-01-02T03:04:05Z stdout F INFO  "; !strings.Contains(string(data), "\n"+prefix) {
			t.Errorf("%s: no line begins with %q:\n%s", step.what, prefix, data)
		}
	}
}

func TestLogOf(t *testing.T) {
	for image, want := range map[string]string{
		"registry.test/team/broken-crash:1.0":       "crash",
		"broken-memory":                             "memory",
		"registry.test:5000/broken-startup@sha256:": "startup",
		"registry.test/broken-readiness/app":        "running",
		"registry.test/unbroken-crash":              "running",
		"registry.test/broken-pull":                 "running",
		"registry.test/app:1.0":                     "running",
	} {
		if got := logOf(image); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
}

func TestTerminationMessagesAreTheLogs(t *testing.T) {
	stages := renderOurStages()
	if strings.Contains(stages, "LOG_OF_") {
		t.Error("a place for a log is left empty")
	}
	for _, name := range []string{"crash", "memory", "startup"} {
		if last := lastOf(podLog(name)); !strings.Contains(stages, last) {
			t.Errorf("%s: no stage says %q", name, last)
		}
	}
}

func lastOf(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
