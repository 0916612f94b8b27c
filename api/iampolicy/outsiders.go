package iampolicy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Outsiders returns the principals outside the account that the policy allows, sorted: account numbers, ARNs, services,
// and * for everybody. A statement whose condition restricts it to the account allows no others. If account is empty,
// because it is not known, every named principal is outside.
func (p Policy) Outsiders(account string) []string {
	out := map[string]bool{}
	for _, s := range p.Statements {
		if s.Effect != "Allow" || account != "" && s.staysIn(account) {
			continue
		}
		if s.NotPrincipal != nil {
			out[everyone] = true
		}
		for _, name := range slices.Concat(slices.Collect(maps.Values(s.Principal))...) {
			if name = Account(name); account == "" || name != account && accountOf(name) != account {
				out[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// inAccount reports whether the operator, with an ARN as its value, matches only ARNs of the account. AWS compares ARNs
// part by part, but strings as a whole: there a * can match several parts.
func inAccount(operator, arn, account string) bool {
	at := strings.Index(arn, ":"+account+":")
	if at < 0 || strings.HasPrefix(operator, "String") && strings.ContainsAny(arn[:at], "*?$") {
		return false
	}
	return accountOf(arn) == account
}

// accountOf returns the account in an ARN, empty if there is none.
func accountOf(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" {
		return ""
	}
	return parts[4]
}

// staysIn reports whether a condition keeps the statement to callers of the account, or to what the account owns.
func (s Statement) staysIn(account string) bool {
	for operator, keys := range s.Conditions {
		if !slices.Contains([]string{"StringEquals", "StringLike", "ArnEquals", "ArnLike"}, operator) {
			continue
		}
		for key, values := range keys {
			in := func(v any) bool { return fmt.Sprint(v) == account }
			switch strings.ToLower(key) {
			case "aws:sourceaccount", "aws:sourceowner", "aws:principalaccount", "kms:calleraccount":
			case "aws:sourcearn", "aws:principalarn":
				in = func(v any) bool { return inAccount(operator, fmt.Sprint(v), account) }
			default:
				continue
			}
			if len(values) > 0 && !slices.ContainsFunc(values, func(v any) bool { return !in(v) }) {
				return true
			}
		}
	}
	return false
}

// Added returns the statements of a policy that another one does not have, or not as they are.
func Added(was, is string) (Policy, error) {
	p, err := Parse(is)
	if err != nil {
		return p, err
	}
	var before, after document
	_ = json.Unmarshal([]byte(was), &before) // what is no policy has no statement
	if err := json.Unmarshal([]byte(is), &after); err != nil {
		return p, err
	}
	had := map[string]bool{}
	for _, s := range before.Statement {
		had[Normal(string(s))] = true
	}
	var added Policy
	for i, s := range after.Statement {
		if !had[Normal(string(s))] {
			added.Statements = append(added.Statements, p.Statements[i])
		}
	}
	return added, nil
}
