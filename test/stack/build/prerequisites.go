package build

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// prerequisite is a program that a build needs, and the advice if it is missing.
type prerequisite struct {
	probe []string // succeeds if it is installed
	cure  string
}

var (
	needsGo = prerequisite{
		probe: []string{"go", "version"},
		cure:  "go is missing: install Go 1.26 or newer from https://go.dev/dl and put it on the PATH",
	}
	needsPython = prerequisite{
		probe: []string{"python3", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"},
		cure:  "python3 (3.11 or newer) is missing: install it, for example with apt-get install python3 python3-venv",
	}
	needsVenv = prerequisite{
		probe: []string{"python3", "-c", "import venv, ensurepip"},
		cure:  "python3 with venv is missing: install it with apt-get install python3-venv",
	}
	needsJava = prerequisite{
		probe: []string{"java", "-version"},
		cure:  "java is missing: install Java 17 or newer, for example with apt-get install openjdk-17-jre-headless",
	}
	needsMaven = prerequisite{
		probe: []string{"mvn", "--version"},
		cure:  "mvn is missing: install Maven, for example with apt-get install maven",
	}
	needsC = prerequisite{
		probe: []string{"gcc", "--version"},
		cure:  "gcc is missing: install it, for example with apt-get install gcc libc6-dev",
	}
	needsSeccomp = prerequisite{
		probe: []string{"pkg-config", "--exists", "libseccomp"},
		cure:  "libseccomp's headers are missing: apt-get install libseccomp-dev pkg-config",
	}
	needsNPM = prerequisite{
		probe: []string{"npm", "--version"},
		cure:  "npm is missing: install Node.js 20 or newer, for example with apt-get install npm",
	}
)

// checkPrerequisites reports everything that is missing, a line each, before minutes are spent on building the rest.
func checkPrerequisites(ctx context.Context, targets []Target) error {
	var missing []error
	checked := map[string]bool{}
	for _, t := range targets {
		for _, p := range t.needs {
			if checked[p.cure] {
				continue
			}
			checked[p.cure] = true
			if exec.CommandContext(ctx, p.probe[0], p.probe[1:]...).Run() != nil {
				missing = append(missing, fmt.Errorf("%s (needed for %s)", p.cure, t.Name))
			}
		}
	}
	return errors.Join(missing...)
}
