package views

import (
	"strings"

	"github.com/a-h/templ"
)

// breaking renders a host name, or an address with one, so that lines break only after a dot. Text that is copied or
// searched for in the page does not contain the break points.
func breaking(name string) templ.Component {
	return templ.Raw(strings.ReplaceAll(templ.EscapeString(name), ".", ".<wbr>"))
}
