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

// patience is the timeout of a script, so that a command that waits forever fails with an error.
const patience = 4 * time.Minute

// Shell runs scripts, each in its own process. Environment variables are kept from one script to the next.
type Shell struct {
	Dir     string   // the current folder
	State   string   // a folder for the kept variables
	Env     []string // the complete environment
	Prelude string   // run before each script
}

// Run runs a script and returns its output.
func (s *Shell) Run(ctx context.Context, script string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	kept := filepath.Join(s.State, "variables")
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c",
		"trap 'export -p > "+kept+"' EXIT; [ ! -e "+kept+" ] || . "+kept+"\nset -a\n"+s.Prelude+"\n"+script)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.Dir, s.Env, 5*time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its child processes end with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

var changing = regexp.MustCompile(`\b0[0-9a-f]{16}\b|-[0-9a-f]{8}\b|\b\d+s\b`)

// steady returns the lines of a text without what changes from run to run: column widths, ages, generated names, and
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
