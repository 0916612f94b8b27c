package awsproxy

import (
	"bytes"
	"crypto/rand"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strconv"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

var requestIDInXML = regexp.MustCompile(`<([Rr]equestI[dD])(?:/>|>[^<]*</[Rr]equestI[dD]>)`)

// answer sends the reply, with a new request ID, once the journal has recorded it.
func (p *Proxy) answer(w http.ResponseWriter, x *wire.Exchange, r *wire.Reply) {
	p.journal.update(x.Call)
	id := wire.RequestID(x.Protocol)
	maps.Copy(w.Header(), r.Header)
	w.Header().Set("Date", p.now().UTC().Format(http.TimeFormat)) // SDKs correct their clock by it
	if x.Protocol == wire.S3 {
		w.Header().Set("X-Amz-Request-Id", id)
		w.Header().Set("X-Amz-Id-2", rand.Text()+rand.Text())
	} else {
		w.Header().Set("X-Amzn-Requestid", id)
	}
	if r.Stream == nil && (x.Protocol != wire.S3 || r.Status >= 300) {
		r.Body = requestIDInXML.ReplaceAll(r.Body, []byte("<$1>"+id+"</$1>"))
	}
	if r.Stream == nil && x.In.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(r.Body)))
	}
	w.WriteHeader(r.Status)
	if x.In.Method == http.MethodHead {
		return
	}
	var body io.Reader = bytes.NewReader(r.Body)
	if r.Stream != nil {
		body = io.MultiReader(body, r.Stream)
	}
	if _, err := io.Copy(w, body); err != nil {
		panic(http.ErrAbortHandler) // a truncated body must not look complete
	}
}
