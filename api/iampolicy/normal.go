package iampolicy

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Normal returns a policy in a canonical form for comparison: IAM accepts a string for a list of one, lists in any
// order, and for an account as principal its number or its root user. Invalid JSON is returned unchanged.
func Normal(policy string) string {
	var v any
	decoder := json.NewDecoder(strings.NewReader(policy))
	decoder.UseNumber() // as they are written: a float holds no ID of 17 digits
	if decoder.Decode(&v) != nil || decoder.More() {
		return policy
	}
	text, err := json.Marshal(plain(v, false))
	if err != nil {
		return policy
	}
	return string(text)
}

var rootUser = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}):root$`)

// Account returns the account number of a principal, or the principal itself.
func Account(principal string) string { return rootUser.ReplaceAllString(principal, "$1") }

// principals are the elements of a policy in which an account means its root user. Elsewhere, as in a condition, it
// does not.
var principals = []string{"Principal", "NotPrincipal"}

func plain(v any, principal bool) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key], principal || slices.Contains(principals, key))
			if v[key] == everyone && slices.Contains(principals, key) {
				v[key] = map[string]any{typeAWS: everyone}
			}
		}
		return v
	case []any:
		return plainList(v, principal)
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case string:
		if principal {
			return Account(v)
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
