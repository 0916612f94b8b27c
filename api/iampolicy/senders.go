package iampolicy

import (
	"maps"
	"slices"
	"strings"
)

// Source is a resource on whose behalf a service sends.
type Source struct {
	ARN string
	// Account owns the resource, for a bucket, whose ARN does not say.
	Account string
}

// bucketService is whom S3 sends as.
const bucketService = "s3.amazonaws.com"

// service returns the service that sends for the source, the word for it in a Sid, and the account that a condition has
// to name beside the ARN. The ARN of a bucket has no account: without the condition, somebody in another account could
// make a bucket by a deleted bucket's name, and send.
func (s Source) service() (principal, word, account string) {
	switch parts := strings.SplitN(s.ARN, ":", 4); {
	case len(parts) < 4:
	case parts[2] == "s3":
		return bucketService, "Buckets", s.Account
	case parts[2] == "events":
		return "events.amazonaws.com", "Rules", ""
	}
	return "sns.amazonaws.com", "Topics", ""
}

// Request returns the service's request when it sends for the source.
func (s Source) Request(action, resource string) Request {
	principal, _, account := s.service()
	if account == "" {
		account = accountOf(s.ARN)
	}
	return Request{Service: principal, Action: action, Resource: resource, SourceARN: s.ARN, SourceAccount: account}
}

// senderStatement lets a service send for some resources. The order of its fields is that of the text.
type senderStatement struct {
	Sid, Effect string
	Principal   map[string]string
	Action      string
	Resource    string
	Condition   map[string]any
}

// LetIn returns the policy by which the sources may do the action to the resource: a statement for each service, and of
// buckets for each account, for a policy of SQS takes few statements. Empty without sources.
func LetIn(action, resource string, sources []Source) string {
	byStatement := map[string]*senderStatement{}
	for _, s := range sources {
		principal, word, account := s.service()
		sid := Own + word + account
		statement := byStatement[sid]
		if statement == nil {
			statement = &senderStatement{
				Sid: sid, Effect: "Allow", Principal: map[string]string{"Service": principal}, Action: action,
				Resource:  resource,
				Condition: map[string]any{"ArnEquals": map[string][]string{"aws:SourceArn": nil}},
			}
			if account != "" {
				statement.Condition["StringEquals"] = map[string]string{"aws:SourceAccount": account}
			}
			byStatement[sid] = statement
		}
		arns := statement.Condition["ArnEquals"].(map[string][]string)
		arns["aws:SourceArn"] = append(arns["aws:SourceArn"], s.ARN)
	}
	var all []any
	for _, sid := range slices.Sorted(maps.Keys(byStatement)) {
		arns := byStatement[sid].Condition["ArnEquals"].(map[string][]string)
		slices.Sort(arns["aws:SourceArn"])
		arns["aws:SourceArn"] = slices.Compact(arns["aws:SourceArn"])
		all = append(all, byStatement[sid])
	}
	return Of(all...)
}

// SourcesOf returns the sources that the policy of LetIn lets in.
func SourcesOf(own string) (all []Source) {
	p, err := Parse(own)
	if err != nil {
		return nil
	}
	for _, s := range p.Statements {
		var account string
		for _, v := range s.Conditions["StringEquals"]["aws:SourceAccount"] {
			account, _ = v.(string)
		}
		for _, v := range s.Conditions["ArnEquals"]["aws:SourceArn"] {
			if arn, ok := v.(string); ok {
				all = append(all, Source{ARN: arn, Account: account})
			}
		}
	}
	return all
}

// Without returns the policy of LetIn without the sources for which out is true.
func Without(own string, out func(Source) bool) string {
	p, err := Parse(own)
	if err != nil || len(p.Statements) == 0 {
		return own
	}
	left := slices.DeleteFunc(SourcesOf(own), out)
	return LetIn(p.Statements[0].Action[0], p.Statements[0].Resource[0], left)
}

// LetInBy returns the ARNs that the policy of LetIn lets in, sorted.
func LetInBy(own string) []string {
	var all []string
	for _, source := range SourcesOf(own) {
		all = append(all, source.ARN)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
