package chaos

import (
	"fmt"
	"io"

	"github.com/portico-platform/portico/test/awsproxy"
)

// report prints what happened during the storm.
func (w *world) report(out io.Writer) {
	for _, group := range []struct{ name, title string }{
		{"acts", "acts"}, {"outcomes", "of which"}, {"kills", "kills, and jumps of the clock"}, {"faults", "faults of AWS"}, {"answers", "answers of people at the end"},
	} {
		_, _ = fmt.Fprintf(out, "%-29s %s\n", group.title, w.counts.line(group.name))
	}
	calls, failed := w.Proxy.Calls(awsproxy.By(awsproxy.Operator)), 0
	writes := 0
	for _, c := range calls {
		if c.Fault != "" {
			failed++
		}
		if c.Write {
			writes++
		}
	}
	_, _ = fmt.Fprintf(out, "%-29s %d, %d of them writes, %d met a fault\n", "the operator's calls of AWS", len(calls),
		writes, failed)
	_, _ = fmt.Fprintf(out, "%-29s %s\n", "the operator's clock is off by", w.operator.offset)
}
