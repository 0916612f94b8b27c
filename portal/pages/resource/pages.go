// Package resource serves the pages of one object: its state, the actions on it, and the Pods and logs of an
// application.
package resource

import (
	"github.com/portico-platform/portico/portal/pages/page"
)

// Pages serves the pages of one object.
type Pages struct {
	*page.Base
	portal string // scheme and host, for the commands that users copy
}

// New returns the pages.
func New(base *page.Base, portal string) *Pages { return &Pages{Base: base, portal: portal} }
