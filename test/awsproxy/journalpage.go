package awsproxy

import (
	"fmt"
	"net/http"
	"strconv"
	"text/tabwriter"
)

// JournalPath serves the latest calls as text, only at the entrance for tests; ?n= sets how many (200), ?writes=1
// leaves out the reads.
const JournalPath = "/_portico/journal"

func (p *Proxy) serveJournal(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Query().Get("n"))
	if err != nil || n <= 0 {
		n = 200
	}
	var filters []Filter
	if r.URL.Query().Get("writes") != "" {
		filters = append(filters, Writes)
	}
	calls := p.Calls(filters...)
	calls = calls[max(0, len(calls)-n):]
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "ID\tTIME\tACTOR\tACCOUNT\tREGION\tCALL\tRESOURCE\tSTATUS\tERROR\tFAULT")
	for _, c := range calls {
		_, _ = fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s:%s\t%s\t%d\t%s\t%s\n",
			c.ID, c.Time.Format("15:04:05.000"), c.Actor, c.Account, c.Region,
			c.Service, c.Operation, c.Resource, c.Status, c.ErrorCode, c.Fault)
	}
	_ = t.Flush() // the client has disconnected
}
