package access

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// document is an IAM policy. A service's field names are its own.
type document struct {
	Version   string
	Statement []statement
}

type statement struct {
	Effect    string
	Action    []string
	Resource  []string
	Condition map[string]map[string]string `json:",omitempty"`
}

// Policy returns the IAM policy that allows exactly these grants, as JSON without white space; empty without grants.
// The result does not depend on the order of the grants.
func Policy(grants []Grant) (string, error) {
	grants = slices.Clone(grants)
	slices.SortFunc(grants, func(a, b Grant) int {
		return cmp.Or(strings.Compare(a.ARN, b.ARN), strings.Compare(string(a.Access), string(b.Access)),
			strings.Compare(a.Key, b.Key))
	})
	doc := document{Version: "2012-10-17"}
	for _, g := range grants {
		at, err := parseARN(g.ARN)
		if err != nil {
			return "", err
		}
		var resource, content, key []string
		for _, row := range levels(g.Kind, g.Access) {
			resource, content, key = append(resource, row.resource...), append(content, row.content...),
				append(key, row.key...)
		}
		doc.allow(resource, g.ARN, nil)
		doc.allow(content, g.ARN+"/*", nil)
		if isCustomers(g.Key) {
			keyARN, when := at.key(g)
			doc.allow(key, keyARN, when)
		}
	}
	if len(doc.Statement) == 0 {
		return "", nil
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return "", fmt.Errorf("write the policy: %w", err)
	}
	return string(text), nil
}

// allow adds the actions on a resource, to a statement that says the same of others where there is one: IAM counts
// characters.
func (d *document) allow(actions []string, resource string, when map[string]map[string]string) {
	if len(actions) == 0 {
		return
	}
	actions = slices.Compact(slices.Sorted(slices.Values(actions)))
	for i := range d.Statement {
		if s := &d.Statement[i]; slices.Equal(s.Action, actions) && equal(s.Condition, when) {
			if !slices.Contains(s.Resource, resource) {
				s.Resource = append(s.Resource, resource)
			}
			return
		}
	}
	d.Statement = append(d.Statement, statement{
		Effect: "Allow", Action: actions, Resource: []string{resource},
		Condition: when,
	})
}

func equal(a, b map[string]map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// location is where an ARN leads.
type location struct{ partition, service, region, account string }

func parseARN(arn string) (location, error) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" {
		return location{}, fmt.Errorf("%q is no ARN", arn)
	}
	return location{parts[1], parts[2], parts[3], parts[4]}, nil
}

// domains are those of AWS's services, by partition.
var domains = map[string]string{"aws-cn": "amazonaws.com.cn", "aws-eusc": "amazonaws.eu"}

// key returns the ARN of a grant's key, and when it may be used: through the service only, and by an alias only as long
// as the key has it.
func (l location) key(g Grant) (arn string, when map[string]map[string]string) {
	domain := "amazonaws.com"
	if other, ok := domains[l.partition]; ok {
		domain = other
	}
	when = map[string]map[string]string{"StringEquals": {"kms:ViaService": l.service + "." + g.Region + "." + domain}}
	keys := strings.Join([]string{"arn", l.partition, "kms", g.Region, accountOf(l, g), ""}, ":")
	switch id := g.Key[strings.LastIndexByte(g.Key, ':')+1:]; {
	case strings.HasPrefix(id, "alias/"):
		when["ForAnyValue:StringEquals"] = map[string]string{"kms:ResourceAliases": id}
		return keys + "key/*", when
	case strings.HasPrefix(g.Key, "arn:"):
		return g.Key, when
	default:
		return keys + "key/" + id, when
	}
}

// accountOf returns the account of the key: its own ARN's, or the resource's. The ARN of a bucket names no account.
func accountOf(l location, g Grant) string {
	if at, err := parseARN(g.Key); err == nil {
		return at.account
	}
	if l.account == "" {
		return g.Account
	}
	return l.account
}

// keyName is what KMS takes for a key: an ID, an alias, or the ARN of either. Nothing in it means more than one key to
// IAM.
var keyName = regexp.MustCompile(`^(arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:(key|alias)/|alias/)?[A-Za-z0-9/_-]+$`)

// isCustomers reports whether a spec names one key of the customer's. One that AWS keeps for the service has a policy
// that lets everybody in the account use it through that; what is no key, AWS refuses to encrypt with.
func isCustomers(key string) bool {
	return keyName.MatchString(key) && !strings.HasPrefix(key[strings.LastIndexByte(key, ':')+1:], "alias/aws/")
}
