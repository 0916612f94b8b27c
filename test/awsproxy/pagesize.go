package awsproxy

import (
	"encoding/json"
	"strconv"
	"strings"
)

// pageParameters name, by service, what a listing asks its page's size with.
var pageParameters = map[string]string{"s3": "max-buckets", "sqs": "MaxResults", "ec2": "MaxResults", "rds": "MaxRecords", "acm": "MaxItems"}

// SetPageSize makes the operator's listings come in pages of at most n, as AWS may do whatever was asked for; 0 leaves
// them as they are. It is what makes a second page of a listing cheap to have.
func (p *Proxy) SetPageSize(n int) { p.pageSize.Store(int64(n)) }

// limitPage asks for a smaller page than the operator did.
func (x *exchange) limitPage(n int) {
	parameter := pageParameters[x.call.Service]
	if n == 0 || parameter == "" || x.call.Actor != Operator || !x.lists() {
		return
	}
	switch x.protocol {
	case protoS3:
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
	switch x.call.Operation {
	case "ListBuckets", "ListQueues", "ListCertificates", "DescribeDBInstances":
		return x.form.Get("DBInstanceIdentifier") == ""
	case "DescribeInstances": // of given instances there are no pages
		for key := range x.form {
			if strings.HasPrefix(key, "InstanceId.") {
				return false
			}
		}
		return true
	}
	return false
}
