package permit

import (
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// OnKey returns permissions on a KMS key that a service uses on the caller's behalf.
func OnKey(x *wire.Exchange, by, key string, denied func() *wire.Reply, actions ...string) []Need {
	resource := key
	switch {
	case strings.HasPrefix(key, "arn:"):
	case strings.HasPrefix(key, "alias/"):
		resource = x.ARN("kms", key)
	default:
		resource = x.ARN("kms", "key/"+key)
	}
	domain := ".amazonaws.com"
	switch wire.Partition(x.Call.Region) {
	case "aws-cn":
		domain = ".amazonaws.com.cn"
	case "aws-eusc":
		domain = ".amazonaws.eu"
	}
	var all []Need
	for _, action := range actions {
		all = append(all, Need{
			Action: action, Resource: resource, Denied: denied,
			Facts: Facts{}.With("kms:ViaService", by+"."+x.Call.Region+domain),
		})
	}
	return all
}
