// Package policy carries the admission policies.
package policy

import "embed"

// Files holds *.yaml.
//
//go:embed *.yaml
var Files embed.FS
