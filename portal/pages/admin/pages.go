// Package admin serves the pages about the platform as a whole, for platform admins.
package admin

import (
	"github.com/portico-platform/portico/portal/pages/page"
)

// Pages serves the pages of the platform.
type Pages struct{ *page.Base }

// New returns the pages.
func New(base *page.Base) *Pages { return &Pages{base} }
