package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// tools are the programs that a sandbox and its machines need, and the Debian packages that have them.
var tools = []struct{ program, pkg string }{
	{"ip", "iproute2"},
	{"nsenter", "util-linux"},
	{"sysctl", "procps"},
	{"iptables", "iptables"},
	{"ip6tables", "iptables"},
	{"ipset", "ipset"},
	{"conntrack", "conntrack"},
}

// Missing returns what this machine lacks for a sandbox, a line each; nil if nothing.
func Missing() error {
	var missing []error
	if os.Geteuid() != 0 {
		missing = append(missing, errors.New("a node runs as root, in namespaces of its own: "+
			"use sudo, or a container with --privileged"))
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool.program); err != nil {
			missing = append(missing, fmt.Errorf("%s is missing: apt-get install %s", tool.program, tool.pkg))
		}
	}
	if _, _, err := hierarchies(); err != nil {
		missing = append(missing, err)
	}
	return errors.Join(missing...)
}
