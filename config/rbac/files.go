// Package rbac carries the ServiceAccounts and roles, and what else must be there before anything works.
package rbac

import "embed"

// Files holds *.yaml.
//
//go:embed *.yaml
var Files embed.FS
