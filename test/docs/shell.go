package docs

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// patience is how long a block may take: a command that waits for what never comes is to end with a word.
const patience = 4 * time.Minute

// Shell is where somebody types. Variables stay from one script to the next, of which each is a process of its own.
type Shell struct {
	Dir     string   // the current folder
	State   string   // a folder for what is kept
	Env     []string // all of the environment
	Prelude string   // typed before each script
}

// Run types a script and returns what it prints.
func (s *Shell) Run(ctx context.Context, script string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	kept := filepath.Join(s.State, "variables")
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c",
		"trap 'export -p > "+kept+"' EXIT; [ ! -e "+kept+" ] || . "+kept+"\nset -a\n"+s.Prelude+"\n"+script)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.Dir, s.Env, 5*time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it started ends with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

var changing = regexp.MustCompile(`\b0[0-9a-f]{16}\b|-[0-9a-f]{8}\b|\b\d+s\b`)

// steady returns the lines of a text without what differs each time: widths of columns, ages, generated names, and
// progress.
func steady(text string) (lines []string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.Join(strings.Fields(changing.ReplaceAllString(line, "*")), " ")
		if !strings.HasPrefix(line, "In progress:") {
			lines = append(lines, line)
		}
	}
	return lines
}
