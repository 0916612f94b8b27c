package awsproxy

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// SetPageSize limits the operator's listings to pages of n items, as AWS may do regardless of the requested size; 0
// ends that. It lets tests get a second page with few resources.
func (p *Proxy) SetPageSize(n int) { p.pageSize.Store(int64(n)) }

// limitPage lowers the page size of the operator's request.
func limitPage(x *exchange, n int) {
	parameter := services[x.call.Service].size
	if n == 0 || parameter == "" || x.call.Actor != Operator || !lists(x) {
		return
	}
	switch x.protocol {
	case protoS3, protoRESTJSON:
		x.query.Set(parameter, strconv.Itoa(n))
		x.rawQuery = x.query.Encode()
	case protoJSON:
		x.json[parameter] = n
		if body, err := json.Marshal(x.json); err == nil { // it was parsed from JSON
			x.body = body
		}
	case protoQuery, protoEC2:
		x.form.Set(parameter, strconv.Itoa(n))
		x.setForm(x.form)
	case protoRESTXML: // no service with listings uses it
	}
}

// lists reports whether the call is one of the listings that sweeps use.
func lists(x *exchange) bool {
	if !slices.Contains(services[x.call.Service].lists, x.call.Operation) || x.form.Get("DBInstanceIdentifier") != "" {
		return false
	}
	for key := range x.form { // describing given instances has no pages
		if strings.HasPrefix(key, "InstanceId.") {
			return false
		}
	}
	return true
}
