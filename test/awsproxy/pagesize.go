package awsproxy

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// SetPageSize limits the operator's listings to pages of n items, as AWS may do regardless of the requested size; 0
// ends that. It lets tests get a second page with few resources.
func (p *Proxy) SetPageSize(n int) { p.pageSize.Store(int64(n)) }

// limitPage lowers the page size of the operator's request.
func limitPage(x *wire.Exchange, n int) {
	parameter := services[x.Call.Service].size
	if n == 0 || parameter == "" || x.Call.Actor != Operator || !lists(x) {
		return
	}
	switch x.Protocol {
	case wire.S3, wire.RESTJSON:
		x.Query.Set(parameter, strconv.Itoa(n))
		x.RawQuery = x.Query.Encode()
	case wire.JSON:
		x.JSON[parameter] = n
		if body, err := json.Marshal(x.JSON); err == nil { // it was parsed from JSON
			x.Body = body
		}
	case wire.Query, wire.EC2:
		x.Form.Set(parameter, strconv.Itoa(n))
		x.SetForm(x.Form)
	case wire.RESTXML: // no service with listings uses it
	}
}

// lists reports whether the call is one of the listings that sweeps use.
func lists(x *wire.Exchange) bool {
	if !slices.Contains(services[x.Call.Service].lists, x.Call.Operation) || x.Form.Get("DBInstanceIdentifier") != "" {
		return false
	}
	for key := range x.Form { // describing given instances has no pages
		if strings.HasPrefix(key, "InstanceId.") {
			return false
		}
	}
	return true
}
