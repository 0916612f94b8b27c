package sns

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// defaultPolicy returns the policy that SNS gives a new topic: its account may use it. There is no call to go back to it.
func defaultPolicy(arn, account string) string {
	return fmt.Sprintf(`{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{"Sid":"__default_statement_ID","Effect":"Allow","Principal":{"AWS":"*"},"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes","SNS:AddPermission","SNS:RemovePermission","SNS:DeleteTopic","SNS:Subscribe","SNS:ListSubscriptionsByTopic","SNS:Publish"],"Resource":%q,"Condition":{"StringEquals":{"AWS:SourceOwner":%q}}}]}`, arn, account)
}

// needed are the operator's own calls that a topic's policy can deny it.
var needed = []string{
	"sns:GetTopicAttributes", "sns:SetTopicAttributes", "sns:ListTagsForResource", "sns:TagResource", "sns:UntagResource", "sns:Subscribe",
	"sns:ListSubscriptionsByTopic", "sns:DeleteTopic",
}

// refusePolicy returns an error for a policy that the operator could not take back.
func (t *topic) refusePolicy(policy string) error {
	p, err := iampolicy.Parse(policy)
	if err != nil {
		return engine.Blocked(v1alpha1.ReasonInvalidSpec, "spec.policy: %v. Correct it", err)
	}
	mine := func(principal string) bool {
		account := rootUser.ReplaceAllString(principal, "$1")
		return account == t.Session.AccountID
	}
	if found := p.LocksOut(needed, mine); found != nil {
		return engine.Blocked(v1alpha1.ReasonInvalidSpec, "spec.policy: its statement %s denies everybody, Portico too, %s: nobody could change or delete the topic here any more. "+
			"Deny single actions such as sns:Publish, or only calls without TLS (aws:SecureTransport false); the policy is not written", found.Statement, found.Action)
	}
	return nil
}

// normalPolicy brings a policy into one form for comparing: IAM takes a text for a list of one, lists in any order, and
// for a principal that is an account its number or its root user. What is no JSON stays as it is, and SNS says so.
func normalPolicy(policy string) string {
	return normal(policy, func(v any) any { return plain(v, false) })
}

// normalFilter brings a filter policy into one form for comparing; empty for none.
func normalFilter(filter string) string {
	text := normal(filter, func(v any) any { return v })
	if text == "{}" {
		return ""
	}
	return text
}

func normal(text string, simplify func(any) any) string {
	var v any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // as they are written: a float holds no ID of 17 digits
	if decoder.Decode(&v) != nil || decoder.More() {
		return text
	}
	return external.JSON(simplify(v))
}

var rootUser = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}):root$`)

// principals are the elements of a policy in which an account stands for its root user. Elsewhere, as in a condition,
// it does not.
var principals = []string{"Principal", "NotPrincipal"}

func plain(v any, principal bool) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key], principal || slices.Contains(principals, key))
		}
		return v
	case []any:
		return plainList(v, principal)
	case bool:
		return strconv.FormatBool(v)
	case string:
		if principal {
			return rootUser.ReplaceAllString(v, "$1")
		}
	}
	return v
}

func plainList(list []any, principal bool) any {
	texts := make([]string, 0, len(list))
	for i := range list {
		list[i] = plain(list[i], principal)
		if text, ok := list[i].(string); ok {
			texts = append(texts, text)
		}
	}
	switch {
	case len(list) == 1:
		return list[0]
	case len(texts) < len(list):
		return list
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
