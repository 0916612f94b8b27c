package rds

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

const versionPath = "engineVersion"

// planVersion compares the requested version with the one that runs, or will run after the maintenance window. A
// WaitError says why the requested one is not possible.
func planVersion(obj *v1alpha1.RDSInstance, have string) (*external.Change, error) {
	s := &obj.Spec
	want := s.EngineVersion
	if want == "" || have == "" || partOf(want, have) {
		return nil, nil
	}
	newer := compare(want, have) > 0
	sameMajor := major(s.Engine, want) == major(s.Engine, have)
	switch {
	case newer && (sameMajor || s.AllowMajorVersionUpgrade):
		return &external.Change{Path: versionPath, From: have, To: want, Together: versionTogether}, nil
	case newer:
		return nil, engine.Blocked(v1alpha1.ReasonMajorUpgradeNotAllowed, "engineVersion %s is a major upgrade from "+
			"%s, which cannot be undone; nothing was upgraded. Set allowMajorVersionUpgrade: true, or engineVersion "+
			"back to %s", want, have, major(s.Engine, have))
	case sameMajor && (s.AutoMinorVersionUpgrade == nil || *s.AutoMinorVersionUpgrade):
		return nil, nil // AWS installed a newer minor version, as allowed
	default:
		return nil, engine.Blocked(v1alpha1.ReasonDowngradeImpossible, "engineVersion %s is older than %s, which "+
			"runs, and RDS cannot go back; nothing was changed. Set engineVersion to %s, or restore an older "+
			"snapshot into a new database", want, have, have)
	}
}

// partOf reports whether want is the first parts of version: 16.4 is part of 16.4.1, not of 16.40.
func partOf(want, version string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(version), strings.ToLower(want))
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '-')
}

var partBorder = regexp.MustCompile(`[.-]`)

func parts(version string) []string { return partBorder.Split(version, -1) }

// compare compares versions part by part; parts that only one of them has do not count.
func compare(a, b string) int {
	x, y := parts(a), parts(b)
	for i := range min(len(x), len(y)) {
		m, errX := strconv.Atoi(x[i])
		n, errY := strconv.Atoi(y[i])
		c := cmp.Compare(m, n)
		if errX != nil || errY != nil {
			c = strings.Compare(x[i], y[i])
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// major returns the part of a version that only a major upgrade changes: two numbers for MySQL, MariaDB and PostgreSQL
// before 10, one for all others.
func major(engineName, version string) string {
	all := parts(version)
	count := 1
	old, err := strconv.Atoi(all[0])
	if engineName == "mysql" || engineName == "mariadb" || (engineName == "postgres" && err == nil && old < 10) {
		count = 2
	}
	return strings.Join(all[:min(count, len(all))], ".")
}
