package sns

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/portico-platform/portico/controllers/external"
)

// defaultPolicy returns the policy that SNS gives a new topic: its account may use it. No call restores that policy.
func defaultPolicy(arn, account string) string {
	return fmt.Sprintf(
		`{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{"Sid":"__default_statement_ID","Effect":"Allow","Principal":{"AWS":"*"},"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes","SNS:AddPermission","SNS:RemovePermission","SNS:DeleteTopic","SNS:Subscribe","SNS:ListSubscriptionsByTopic","SNS:Publish"],"Resource":%q,"Condition":{"StringEquals":{"AWS:SourceOwner":%q}}}]}`, arn, account)
}

// needed are the operator's own calls that a topic's policy can deny.
var needed = []string{
	"sns:GetTopicAttributes", "sns:SetTopicAttributes", "sns:ListTagsForResource", "sns:TagResource",
	"sns:UntagResource", "sns:Subscribe",
	"sns:ListSubscriptionsByTopic", "sns:DeleteTopic",
}

// normalFilter returns a filter policy in one form for comparison; empty for none.
func normalFilter(filter string) string {
	var v any
	decoder := json.NewDecoder(strings.NewReader(filter))
	decoder.UseNumber() // numbers as they are written: a float cannot hold an ID of 17 digits
	if decoder.Decode(&v) != nil || decoder.More() {
		return filter
	}
	if text := external.JSON(v); text != "{}" {
		return text
	}
	return ""
}
