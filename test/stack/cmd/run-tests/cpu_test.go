package main

import (
	"os"
	"os/exec"
	"testing"
)

func TestTheCPUTimeOfAProcessCountsWhatItStarted(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("without /proc")
	}
	before := usedBy(os.Getpid())
	if err := exec.Command("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done").Run(); err != nil {
		t.Fatal(err)
	}
	if after := usedBy(os.Getpid()); after < before+0.05 {
		t.Errorf("%.2f s before a child computed, and %.2f s afterwards", before, after)
	}
}

func TestANameOfAProgramMayHaveBlanks(t *testing.T) {
	const stat = "42 (a) b) S 7 42 42 0 -1 4194560 9 0 0 0 150 50 25 75 20 0 1 0 5"
	if id, parent, seconds := parseStat([]byte(stat)); id != 42 || parent != 7 || seconds != 3 {
		t.Errorf("process %d of %d with %.2f s, want 42 of 7 with 3 s", id, parent, seconds)
	}
}
