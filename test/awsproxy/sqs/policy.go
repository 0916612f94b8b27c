package sqs

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// The limits of SQS, by "Amazon SQS policy quotas" of its guide. Its messages about a limit are known from issues of
// NServiceBus (830) and of the Cloud Platform of the Ministry of Justice (9082).
const (
	policyBytes, policyStatements, policyPrincipals, policyConditions = 8192, 20, 50, 10
	policyActions                                                     = 7 // in a statement
)

// policyNames are the actions that the policy of a queue may name: those on a queue, by the Service Authorization
// Reference.
var policyNames = []string{
	"AddPermission", "CancelMessageMoveTask", "ChangeMessageVisibility", "DeleteMessage", "DeleteQueue",
	"GetQueueAttributes", "GetQueueUrl",
	"ListDeadLetterSourceQueues", "ListMessageMoveTasks", "ListQueueTags", "PurgeQueue", "ReceiveMessage",
	"RemovePermission", "SendMessage",
	"SetQueueAttributes", "StartMessageMoveTask", "TagQueue", "UntagQueue",
}

// refuseQueuePolicy returns SQS's refusal of the policy of a queue; nil if SQS accepts it, or none is given.
func refuseQueuePolicy(x *wire.Exchange, queueARN string) *wire.Reply {
	given, _ := x.JSON["Attributes"].(map[string]any)
	text, _ := given["Policy"].(string)
	if text == "" { // this removes it
		return nil
	}
	limit := func(format string, args ...any) *wire.Reply {
		return x.Fail(http.StatusForbidden, "OverLimit", fmt.Sprintf(format, args...)).QueryCode(x, "OverLimit")
	}
	if len(text) > policyBytes {
		return limit("Submitted policy is over max allowed size.")
	}
	invalid := x.Fail(http.StatusBadRequest, "InvalidAttributeValue",
		"Invalid value for the parameter Policy.").QueryCode(x, "InvalidAttributeValue")
	p, err := permit.ParseResourcePolicy([]byte(text))
	if err != nil {
		return invalid
	}
	size := permit.SizeOf(p)
	switch {
	case len(p.Statements()) > policyStatements:
		return limit("%d statements were found in the submitted policy, max allowed is %d", len(p.Statements()),
			policyStatements)
	case size.Actions > policyActions:
		return limit("%d actions were found in a statement from the submitted policy, max allowed is %d", size.Actions,
			policyActions)
	case size.Principals > policyPrincipals:
		return limit("%d principals were found in the submitted policy, max allowed is %d", size.Principals,
			policyPrincipals)
	case size.Conditions > policyConditions:
		return limit("%d conditions were found in the submitted policy, max allowed is %d", size.Conditions,
			policyConditions)
	}
	for _, s := range p.Statements() {
		if !permit.CoveredBy(s, queueARN) || slices.ContainsFunc(slices.Concat(s.Actions, s.NotActions),
			func(a string) bool { return !permit.OfScope(a, "sqs:", policyNames) }) {
			return invalid
		}
	}
	return nil
}
