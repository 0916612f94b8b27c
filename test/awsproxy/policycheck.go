package awsproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// The limits of SQS, by "Amazon SQS policy quotas" of its guide. Its messages about a limit are known from issues of
// NServiceBus (830) and of the Cloud Platform of the Ministry of Justice (9082).
const (
	sqsPolicyBytes, sqsPolicyStatements, sqsPolicyPrincipals, sqsPolicyConditions = 8192, 20, 50, 10
	sqsPolicyActions                                                              = 7 // in a statement
)

// sqsPolicyNames are the actions that the policy of a queue may name: those on a queue, by the Service Authorization
// Reference.
var sqsPolicyNames = []string{
	"AddPermission", "CancelMessageMoveTask", "ChangeMessageVisibility", "DeleteMessage", "DeleteQueue",
	"GetQueueAttributes", "GetQueueUrl",
	"ListDeadLetterSourceQueues", "ListMessageMoveTasks", "ListQueueTags", "PurgeQueue", "ReceiveMessage",
	"RemovePermission", "SendMessage",
	"SetQueueAttributes", "StartMessageMoveTask", "TagQueue", "UntagQueue",
}

// refuseQueuePolicy returns SQS's refusal of the policy of a queue; nil if SQS accepts it, or none is given.
func refuseQueuePolicy(x *exchange, queueARN string) *reply {
	given, _ := x.json["Attributes"].(map[string]any)
	text, _ := given["Policy"].(string)
	if text == "" { // this removes it
		return nil
	}
	limit := func(format string, args ...any) *reply {
		return x.fail(http.StatusForbidden, "OverLimit", fmt.Sprintf(format, args...)).queryCode(x, "OverLimit")
	}
	if len(text) > sqsPolicyBytes {
		return limit("Submitted policy is over max allowed size.")
	}
	invalid := x.fail(http.StatusBadRequest, "InvalidAttributeValue",
		"Invalid value for the parameter Policy.").queryCode(x, "InvalidAttributeValue")
	p, err := ParseResourcePolicy([]byte(text))
	if err != nil {
		return invalid
	}
	size := sizeOf(p)
	switch {
	case len(p.Statements()) > sqsPolicyStatements:
		return limit("%d statements were found in the submitted policy, max allowed is %d", len(p.Statements()),
			sqsPolicyStatements)
	case size.actions > sqsPolicyActions:
		return limit("%d actions were found in a statement from the submitted policy, max allowed is %d", size.actions,
			sqsPolicyActions)
	case size.principals > sqsPolicyPrincipals:
		return limit("%d principals were found in the submitted policy, max allowed is %d", size.principals,
			sqsPolicyPrincipals)
	case size.conditions > sqsPolicyConditions:
		return limit("%d conditions were found in the submitted policy, max allowed is %d", size.conditions,
			sqsPolicyConditions)
	}
	for _, s := range p.Statements() {
		if !coveredBy(s, queueARN) || slices.ContainsFunc(slices.Concat(s.Actions, s.NotActions),
			func(a string) bool { return !ofScope(a, "sqs:", sqsPolicyNames) }) {
			return invalid
		}
	}
	return nil
}

// policySize has the numbers that services limit: principals and conditions of all statements, and the actions of the
// longest.
type policySize struct{ actions, principals, conditions int }

func sizeOf(p *iampolicy.ResourcePolicy) policySize {
	var size policySize
	for _, s := range p.Statements() {
		size.actions = max(size.actions, len(s.Actions)+len(s.NotActions))
		size.principals += len(s.Principals) + len(s.NotPrincipals)
		for _, keys := range s.Conditions {
			size.conditions += len(keys)
		}
	}
	return size
}

// coveredBy reports whether all resources of a statement match the resource of the policy, by its ARN, by a pattern
// or by *.
func coveredBy(s iampolicy.ResourceStatement, arn string) bool {
	return !slices.ContainsFunc(slices.Concat(s.Resources, s.NotResources), func(pattern string) bool {
		matched, err := path.Match(strings.ReplaceAll(pattern, "/", ":"), strings.ReplaceAll(arn, "/", ":"))
		return err != nil || !matched
	})
}

// ofScope reports whether the action is one that the service's policies may name, or a pattern that matches one.
func ofScope(action, service string, names []string) bool {
	pattern, ok := strings.CutPrefix(strings.ToLower(action), service)
	return ok && slices.ContainsFunc(names, func(name string) bool {
		matched, err := path.Match(pattern, strings.ToLower(name))
		return err == nil && matched
	})
}

// The limits of SNS, by "Amazon SNS API permissions: Actions and resources reference" of its guide.
const snsPolicyBytes, snsPolicyStatements, snsPolicyPrincipals = 30 << 10, 100, 200

// snsPolicyNames are the actions that the policy of a topic may name, by the same page; Receive is in the policy that
// the console writes. Patterns are out of scope: SNS reports that for everything that is not in its list
// (hashicorp/terraform 12740).
var snsPolicyNames = []string{
	"addpermission", "deletetopic", "getdataprotectionpolicy", "gettopicattributes", "listsubscriptionsbytopic",
	"listtagsforresource", "publish",
	"putdataprotectionpolicy", "removepermission", "settopicattributes", "subscribe", "receive",
}

// refuseTopicPolicy returns SNS's refusal of the policy of a topic; nil if SNS accepts it.
func refuseTopicPolicy(x *exchange, topicARN, text string) *reply {
	refuse := func(message string) *reply {
		return x.fail(http.StatusBadRequest, "InvalidParameter", "Invalid parameter: "+message)
	}
	p, err := ParseResourcePolicy([]byte(text))
	switch {
	case errors.Is(err, iampolicy.ErrPrincipal) && json.Valid([]byte(text)):
		return refuse("Policy Error: PrincipalNotFound")
	case err != nil:
		return refuse("Policy Error: null")
	case len(text) > snsPolicyBytes || len(p.Statements()) > snsPolicyStatements ||
		sizeOf(p).principals > snsPolicyPrincipals:
		return refuse("Policy exceeds the maximum allowed size")
	}
	for _, s := range p.Statements() {
		for _, action := range slices.Concat(s.Actions, s.NotActions) {
			name, ok := strings.CutPrefix(strings.ToLower(action), "sns:")
			if !ok || !slices.Contains(snsPolicyNames, name) {
				return refuse("Policy statement action out of service scope!")
			}
		}
		if !coveredBy(s, topicARN) {
			return refuse("Policy Error: null")
		}
	}
	return nil
}
