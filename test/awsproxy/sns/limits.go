package sns

import (
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// refuse refuses values that SNS refuses regardless of existing resources, and moto accepts. The rows of
// test/awslimits have the sources.
func refuse(x *wire.Exchange) *wire.Reply {
	switch x.Call.Operation {
	case "CreateTopic", "TagResource":
		return wire.OddTags(x, x.Form, "Tags.member.")
	case "Subscribe":
		return wire.DocumentsOf(x, attributesOf(x))
	case "SetSubscriptionAttributes":
		return wire.DocumentsOf(x, map[string]string{x.Form.Get("AttributeName"): x.Form.Get("AttributeValue")})
	}
	return nil
}
