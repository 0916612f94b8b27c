package process

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// shell adds a process that runs a script; it is ready once the script has created the file "ready" in the run
// directory.
func shell(g *Group, dir, script string) *Process {
	return g.Add(Spec{Name: "sh", Path: "/bin/sh", Args: []string{"-c", script}, Ready: func(context.Context) error {
		_, err := os.Stat(filepath.Join(dir, "ready"))
		return err
	}})
}

func group(t *testing.T, onDied func(*DiedError)) (*Group, string) {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	dir := t.TempDir()
	g, err := NewGroup(dir, onDied)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g, dir
}

func mustStart(t *testing.T, p *Process) identity {
	t.Helper()
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	id, ok := identify(p.PID())
	if !ok {
		t.Fatal("a started process does not run")
	}
	return id
}

func TestStopRestartClose(t *testing.T) {
	g, dir := group(t, func(e *DiedError) { t.Errorf("reported as died: %v", e) })
	p := shell(g, dir, "echo $0 > told; mv told ready; exec sleep 1000")
	first := mustStart(t, p)
	if err := p.Start(t.Context()); err == nil {
		t.Error("started twice")
	}
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, _ := identify(p.PID())
	if first.alive() || !second.alive() || first.PID == second.PID {
		t.Errorf("restarted from %+v to %+v", first, second)
	}
	p.With("told")
	if err := errors.Join(p.Stop(), os.Remove(filepath.Join(dir, "ready")), p.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	if told, err := os.ReadFile(filepath.Join(dir, "ready")); err != nil || string(told) != "told\n" {
		t.Errorf("restarted with another argument, and knows of %q, %v", told, err)
	}
	second, _ = identify(p.PID())
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if second.alive() || p.PID() != 0 {
		t.Error("it survives Close")
	}
	if err := p.Start(t.Context()); err == nil {
		t.Error("started in a closed group")
	}
	if _, err := os.Stat(filepath.Join(dir, recordFile)); err == nil {
		t.Error("the record survives Close")
	}
}

func TestKillEndsTheWholeProcessGroup(t *testing.T) {
	g, dir := group(t, nil)
	p := shell(g, dir, "sleep 1000 & echo $! > ready.new; mv ready.new ready; wait")
	mustStart(t, p)
	data, err := os.ReadFile(filepath.Join(dir, "ready"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	grandchild, ok := identify(pid)
	if !ok {
		t.Fatal("no grandchild")
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if !grandchild.alive() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the grandchild survives")
}

func TestDyingIsReportedWithTheLog(t *testing.T) {
	died := make(chan *DiedError, 1)
	g, dir := group(t, func(e *DiedError) { died <- e })
	p := shell(g, dir, "touch ready; echo one; echo the reason >&2; sleep 0.1; exit 3")
	mustStart(t, p)
	select {
	case e := <-died:
		if e.Name != "sh" || !strings.Contains(e.Error(), "exit status 3") ||
			!strings.Contains(e.Tail, "  the reason") {
			t.Errorf("%v", e)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("not reported")
	}
}

func TestDyingBeforeReadyFailsTheStart(t *testing.T) {
	g, dir := group(t, nil)
	var e *DiedError
	if err := shell(g, dir, "echo bad flag; exit 1").Start(t.Context()); !errors.As(err, &e) ||
		!strings.Contains(e.Tail, "bad flag") {
		t.Errorf("%v", err)
	}
}

// TestEndingOneThatStartsIsNoDeath checks that a process that is stopped while it starts has not died: onDied is not
// called, and Start returns an error that is not a DiedError.
func TestEndingOneThatStartsIsNoDeath(t *testing.T) {
	g, dir := group(t, func(e *DiedError) { t.Errorf("reported as died: %v", e) })
	p := shell(g, dir, "exec sleep 1000")
	started := make(chan error, 1)
	go func() { started <- p.Start(t.Context()) }()
	for p.PID() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	var died *DiedError
	if err := <-started; err == nil || errors.As(err, &died) {
		t.Errorf("%v", err)
	}
}

func TestReapEndsOnlyWhatIsRecorded(t *testing.T) {
	ours, foreign := exec.CommandContext(t.Context(), "sleep", "1000"),
		exec.CommandContext(t.Context(), "sleep", "1000")
	for _, c := range []*exec.Cmd{ours, foreign} {
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	}
	oursID, _ := identify(ours.Process.Pid)
	foreignID, _ := identify(foreign.Process.Pid)
	reused := foreignID
	reused.Start = "earlier" // a process ID that was reused

	self, _ := identify(os.Getpid())
	dead := self
	dead.Start = "earlier"
	dir := t.TempDir()
	if err := (record{Owner: self, Processes: map[string]identity{"a": oursID}}).write(dir); err != nil {
		t.Fatal(err)
	}
	var inUse *InUseError
	if _, err := Reap(dir); !errors.As(err, &inUse) || inUse.PID != self.PID {
		t.Errorf("with a living owner: %v", err)
	}
	if err := (record{Owner: dead, Processes: map[string]identity{"a": oursID, "b": reused}}).write(dir); err != nil {
		t.Fatal(err)
	}
	if n, err := Reap(dir); n != 1 || err != nil {
		t.Errorf("reaped %d, %v", n, err)
	}
	if oursID.alive() {
		t.Error("ours survives")
	}
	if !foreignID.alive() {
		t.Error("a foreign process was ended")
	}
	if n, err := Reap(dir); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
}

// TestMain lets the test binary act as the parent that is killed.
func TestMain(m *testing.M) {
	if os.Getenv("PORTICO_TEST_PARENT") != "" {
		parent("inner")
	}
	os.Exit(m.Run())
}

func parent(dir string) {
	g, err := NewGroup(dir, nil)
	if err == nil {
		err = g.Add(Spec{Name: "child", Path: "/bin/sleep", Args: []string{"1000"}}).Start(context.Background())
	}
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o600); err != nil {
		panic(err)
	}
	select {}
}

func TestNothingSurvivesAParentThatIsKilled(t *testing.T) {
	g, outer := group(t, nil)
	dir := filepath.Join(outer, "inner") // a process runs in its group's folder
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := g.Add(Spec{
		Name: "parent", Path: os.Args[0], Env: []string{"PORTICO_TEST_PARENT=1"},
		Ready: func(context.Context) error {
			_, err := os.Stat(filepath.Join(dir, "ready"))
			return err
		},
	})
	mustStart(t, p)
	data, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err != nil {
		t.Fatal(err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	child := r.Processes["child"]
	if !child.alive() {
		t.Fatalf("no child in %s", data)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := Reap(dir); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if !child.alive() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the child survives")
}
