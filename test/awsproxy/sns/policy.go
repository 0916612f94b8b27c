package sns

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// The limits of SNS, by "Amazon SNS API permissions: Actions and resources reference" of its guide.
const policyBytes, policyStatements, policyPrincipals = 30 << 10, 100, 200

// policyNames are the actions that the policy of a topic may name, by the same page; Receive is in the policy that
// the console writes. Patterns are out of scope: SNS reports that for everything that is not in its list
// (hashicorp/terraform 12740).
var policyNames = []string{
	"addpermission", "deletetopic", "getdataprotectionpolicy", "gettopicattributes", "listsubscriptionsbytopic",
	"listtagsforresource", "publish",
	"putdataprotectionpolicy", "removepermission", "settopicattributes", "subscribe", "receive",
}

// refuseTopicPolicy returns SNS's refusal of the policy of a topic; nil if SNS accepts it.
func refuseTopicPolicy(x *wire.Exchange, topicARN, text string) *wire.Reply {
	refuse := func(message string) *wire.Reply {
		return x.Fail(http.StatusBadRequest, "InvalidParameter", "Invalid parameter: "+message)
	}
	p, err := permit.ParseResourcePolicy([]byte(text))
	switch {
	case errors.Is(err, iampolicy.ErrPrincipal) && json.Valid([]byte(text)):
		return refuse("Policy Error: PrincipalNotFound")
	case err != nil:
		return refuse("Policy Error: null")
	case len(text) > policyBytes || len(p.Statements()) > policyStatements ||
		permit.SizeOf(p).Principals > policyPrincipals:
		return refuse("Policy exceeds the maximum allowed size")
	}
	for _, s := range p.Statements() {
		for _, action := range slices.Concat(s.Actions, s.NotActions) {
			name, ok := strings.CutPrefix(strings.ToLower(action), "sns:")
			if !ok || !slices.Contains(policyNames, name) {
				return refuse("Policy statement action out of service scope!")
			}
		}
		if !permit.CoveredBy(s, topicARN) {
			return refuse("Policy Error: null")
		}
	}
	return nil
}

// policyOfTopic refuses what SNS does not accept as the policy of a topic, and stores other policies in SNS's normal
// form in moto.
func policyOfTopic(x *wire.Exchange) (*wire.Reply, error) {
	if x.Form.Get("AttributeName") != "Policy" {
		return nil, nil
	}
	text := x.Form.Get("AttributeValue")
	if refusal := refuseTopicPolicy(x, x.Form.Get("TopicArn"), text); refusal != nil {
		return refusal, nil
	}
	normal, err := permit.NormalPolicy([]byte(text), wire.Partition(x.Call.Region))
	x.Form.Set("AttributeValue", string(normal))
	x.SetForm(x.Form)
	return nil, err
}

// policyOfNewTopic does the same for CreateTopic.
func policyOfNewTopic(x *wire.Exchange) (*wire.Reply, error) {
	for i := 1; x.Form.Has(fmt.Sprintf("Attributes.entry.%d.key", i)); i++ {
		value := fmt.Sprintf("Attributes.entry.%d.value", i)
		if x.Form.Get(fmt.Sprintf("Attributes.entry.%d.key", i)) != "Policy" {
			continue
		}
		if refusal := refuseTopicPolicy(x, x.ARN("sns", x.Form.Get("Name")), x.Form.Get(value)); refusal != nil {
			return refusal, nil
		}
		normal, err := permit.NormalPolicy([]byte(x.Form.Get(value)), wire.Partition(x.Call.Region))
		if err != nil {
			return nil, err
		}
		x.Form.Set(value, string(normal))
		x.SetForm(x.Form)
	}
	return nil, nil
}
