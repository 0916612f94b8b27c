// Package samples carries one manifest for each kind, as examples.
package samples

import "embed"

// Files holds <kind in lower case>.yaml; the first document of each is an object of the kind.
//
//go:embed *.yaml
var Files embed.FS
