package planted

import (
	"fmt"
	"io"
)

// Report ends the search, writes what was found to w, and returns the tests' exit status: 1 if anything was found.
func (s *Search) Report(w io.Writer) (code int) {
	found, summary, err := s.End()
	_, _ = fmt.Fprintln(w, "planted:", summary)
	if err != nil {
		_, _ = fmt.Fprintln(w, "planted:", err)
		code = 1
	}
	for _, one := range found {
		_, _ = fmt.Fprintln(w, "planted: a secret was found in", one)
		code = 1
	}
	return code
}
