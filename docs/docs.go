// Package docs holds the documentation, as people read it in this folder; docs/site turns it into pages.
package docs

import "embed"

// Files are the pages, by their path below docs. The pictures of screens.md are left out: they are larger than the
// portal.
//
//go:embed *.md adr/*.md iam/README.md identity/*.md kinds/*.md runbooks/*.md
var Files embed.FS
