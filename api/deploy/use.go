package deploy

import (
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// idleAfter is after how long an unused deployer is pointed out.
const idleAfter = 90 * 24 * time.Hour

// Idle reports whether nobody has used a deployer for 90 days: since its last use, else since it was set up.
func Idle(s v1alpha1.TeamDeployerStatus, now time.Time) bool {
	since := s.Since.Time
	if s.LastUsed != nil {
		since = s.LastUsed.Time
	}
	return now.Sub(since) > idleAfter
}

// RunsFor returns the branch, tag or environment of a deployer in words, such as "branch main".
func RunsFor(d *v1alpha1.TeamDeployer) string {
	switch {
	case d.Branch != "":
		return "branch " + d.Branch
	case d.Tag != "":
		return "tag " + d.Tag
	}
	return "environment " + d.Environment
}
