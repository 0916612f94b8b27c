package iampolicy

import (
	"fmt"
	"slices"
	"strings"
)

// Answer is what a policy says to a request.
type Answer int

// The answers. Unknown is one that depends on a condition that Portico does not evaluate.
const (
	No Answer = iota
	Unknown
	Yes
)

// Request is a call that an AWS service makes on behalf of a resource.
type Request struct {
	Service  string // sns.amazonaws.com
	Action   string // sqs:SendMessage
	Resource string // the ARN of what has the policy
	// SourceARN and SourceAccount are the resource on whose behalf the service calls, and the account that owns it.
	SourceARN, SourceAccount string
}

// Admits returns whether the policy alone lets the service make the call, which needs an Allow and no Deny.
func (p Policy) Admits(r Request) Answer {
	allowed, denied := No, No
	for _, s := range p.Statements {
		switch answer := s.about(r); s.Effect {
		case "Allow":
			allowed = max(allowed, answer)
		case "Deny":
			denied = max(denied, answer)
		}
	}
	return min(allowed, Yes-denied)
}

// about reports whether the statement is about the request.
func (s Statement) about(r Request) Answer {
	if !s.covers(r.Action) || !s.concerns(r.Resource) {
		return No
	}
	answer := s.names(r.Service)
	for operator, keys := range s.Conditions {
		for key, values := range keys {
			answer = min(answer, r.meets(operator, key, values))
		}
	}
	return answer
}

// absent evaluates a condition whose key the request does not have. Source: IAM User Guide, "Condition operators".
func absent(operator string) Answer {
	switch {
	case strings.Contains(operator, ":"), operator == "Null": // of several values, and of presence itself
		return Unknown
	case strings.HasSuffix(operator, "IfExists"), strings.Contains(operator, "Not"):
		return Yes
	}
	return No
}

// matchesARN compares ARNs as AWS does, part by part.
func matchesARN(pattern, arn string) bool {
	patterns, parts := strings.SplitN(pattern, ":", 6), strings.SplitN(arn, ":", 6)
	if len(patterns) != len(parts) {
		return pattern == everyone
	}
	for i := range parts {
		if !Matches(patterns[i], parts[i]) {
			return false
		}
	}
	return true
}

// names reports whether the service is a principal of the statement. The meaning of a regional service principal, such
// as sns.eu-west-1.amazonaws.com, depends on the caller's region.
func (s Statement) names(service string) Answer {
	of := func(principals []string) Answer {
		first, last, _ := strings.Cut(service, ".")
		answer := No
		for _, p := range principals {
			p = strings.ToLower(p)
			switch {
			case p == everyone, p == service:
				return Yes
			case strings.HasPrefix(p, first+".") && strings.HasSuffix(p, "."+last):
				answer = Unknown
			}
		}
		return answer
	}
	switch {
	case s.NotPrincipal != nil:
		return Yes - of(s.NotPrincipal["Service"])
	case slices.Contains(s.Principal[typeAWS], everyone):
		return Yes
	}
	return of(s.Principal["Service"])
}

func (s Statement) concerns(resource string) bool {
	is := func(pattern string) bool { return Matches(pattern, resource) }
	if s.NotResource != nil {
		return !slices.ContainsFunc(s.NotResource, is)
	}
	return s.Resource == nil || slices.ContainsFunc(s.Resource, is)
}

// meets evaluates one condition.
func (r Request) meets(operator, key string, values []any) Answer {
	have, known := r.value(key)
	switch {
	case !known:
		return Unknown
	case have == "":
		return absent(operator)
	}
	if slices.ContainsFunc(values, func(v any) bool { return strings.Contains(fmt.Sprint(v), "${") }) {
		return Unknown
	}
	base := strings.TrimSuffix(operator, "IfExists")
	plain := strings.Replace(base, "Not", "", 1)
	var same func(pattern, text string) bool
	switch plain {
	case "StringEquals":
		same = func(pattern, text string) bool { return pattern == text }
	case "StringEqualsIgnoreCase", "Bool":
		same = strings.EqualFold
	case "StringLike":
		same = Matches
	case "ArnEquals", "ArnLike":
		same = matchesARN
	default:
		return Unknown
	}
	met := slices.ContainsFunc(values, func(v any) bool { return same(fmt.Sprint(v), have) })
	if met != (plain != base) {
		return Yes
	}
	return No
}

// value returns the request's value of a condition key, empty if it has none; known is false if Portico cannot know it.
func (r Request) value(key string) (have string, known bool) {
	switch strings.ToLower(key) {
	case "aws:sourcearn":
		return r.SourceARN, true
	case "aws:sourceaccount":
		return r.SourceAccount, true
	case "aws:securetransport", "aws:principalisawsservice":
		return "true", true
	case "aws:principalorgid", "aws:principalorgpaths", "aws:principalaccount", "aws:principalarn",
		"aws:sourcevpc", "aws:sourcevpce": // a service's own calls have none of these
		return "", true
	case "aws:sourceowner": // in the policy that SNS gives a topic, which lets no bucket in
		return "", r.Service == bucketService
	}
	return "", false
}
