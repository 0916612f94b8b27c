package awsproxy

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// SetPageSize makes the operator's listings come in pages of at most n, as AWS may do whatever was asked for; 0 leaves
// them as they are. It is what makes a second page of a listing cheap to have.
func (p *Proxy) SetPageSize(n int) { p.pageSize.Store(int64(n)) }

// limitPage asks for a smaller page than the operator did.
func (x *exchange) limitPage(n int) {
	parameter := services[x.call.Service].size
	if n == 0 || parameter == "" || x.call.Actor != Operator || !x.lists() {
		return
	}
	switch x.protocol {
	case protoS3, protoRESTJSON:
		x.query.Set(parameter, strconv.Itoa(n))
		x.rawQuery = x.query.Encode()
	case protoJSON:
		x.json[parameter] = n
		if body, err := json.Marshal(x.json); err == nil { // it came as JSON
			x.body = body
		}
	case protoQuery, protoEC2:
		x.form.Set(parameter, strconv.Itoa(n))
		x.setForm(x.form)
	case protoRESTXML: // none of these services
	}
}

// lists reports whether the call is one of the listings that sweeps use.
func (x *exchange) lists() bool {
	if !slices.Contains(services[x.call.Service].lists, x.call.Operation) || x.form.Get("DBInstanceIdentifier") != "" {
		return false
	}
	for key := range x.form { // of given instances there are no pages
		if strings.HasPrefix(key, "InstanceId.") {
			return false
		}
	}
	return true
}
