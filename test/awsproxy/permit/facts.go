package permit

import (
	"iter"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Facts are the values of condition keys, which are in lower case.
type Facts map[string][]string

// With adds a key and its values; without values it leaves the key out.
func (f Facts) With(key string, values ...string) Facts {
	if len(values) > 0 {
		f[strings.ToLower(key)] = values
	}
	return f
}

// Values returns the values of a key, which is in lower case.
func (f Facts) Values(key string) []string { return f[key] }

// Tagged adds the tags of a request.
func (f Facts) Tagged(tags map[string]string) Facts {
	for key, value := range tags {
		f.With("aws:RequestTag/"+key, value)
	}
	return f.Untagging(maps.Keys(tags))
}

// Untagging adds the keys of tags that a request names.
func (f Facts) Untagging(keys iter.Seq[string]) Facts {
	return f.With("aws:TagKeys", slices.Sorted(keys)...)
}

// transport returns the values of condition keys about the connection. It returns none for the calls of the Pod
// Identity Agent, which did not come in over one.
func transport(x *wire.Exchange) Facts {
	f := Facts{}.With("aws:PrincipalIsAWSService", "false").With("aws:ViaAWSService",
		"false").With("aws:SecureTransport", "true")
	if x.In == nil {
		return f
	}
	if x.Call.Actor != wire.Operator && x.In.Header.Get(wire.PlainHTTPHeader) != "" {
		f.With("aws:SecureTransport", "false")
	}
	if agent := x.In.UserAgent(); agent != "" {
		f.With("aws:UserAgent", agent)
	}
	if host, _, err := net.SplitHostPort(x.In.RemoteAddr); err == nil {
		f.With("aws:SourceIp", host)
	}
	return f
}
