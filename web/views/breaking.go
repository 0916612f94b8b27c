package views

import (
	"strings"

	"github.com/a-h/templ"
)

// breaking renders a host name, or an address with one, so that a line of it ends after a dot: a label of it stays
// whole. What is copied or searched for in the page is the name itself.
func breaking(name string) templ.Component {
	return templ.Raw(strings.ReplaceAll(templ.EscapeString(name), ".", ".<wbr>"))
}
