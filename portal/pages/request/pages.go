// Package request serves the forms in which users request and edit objects.
package request

import (
	"github.com/portico-platform/portico/portal/pages/page"
)

// Pages serves the forms.
type Pages struct {
	*page.Base
	portal string // scheme and host, for the commands that users copy
}

// New returns the forms.
func New(base *page.Base, portal string) *Pages { return &Pages{Base: base, portal: portal} }
