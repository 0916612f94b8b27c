package permit

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
)

// NormalPolicy returns a policy in the form in which S3 and SNS return it: an account as its root user, a string for
// a list of one, strings for numbers and booleans, principals in an order of their own, and no white space. SQS
// returns the text unchanged. Source: "Comparing policies" of Terraform's AWS provider, and its issues on bucket and
// topic policies.
func NormalPolicy(text []byte, partition string) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(normalValue(v, "arn:"+partition+":iam::", false))
}

// AccountNumber matches the number of an account.
var AccountNumber = regexp.MustCompile(`^[0-9]{12}$`)

// normalValue simplifies a value; principal is true within the elements Principal and NotPrincipal.
func normalValue(v any, accounts string, principal bool) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = normalElement(key, v[key], accounts, principal)
		}
		return v
	case []any:
		for i := range v {
			v[i] = normalValue(v[i], accounts, principal)
		}
		if len(v) == 1 {
			return v[0]
		}
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case string:
		if principal && AccountNumber.MatchString(v) {
			return accounts + v + ":root"
		}
	}
	return v
}

// normalElement simplifies the value of an element. Statements stay a list.
func normalElement(key string, v any, accounts string, principal bool) any {
	v = normalValue(v, accounts, principal || key == "Principal" || key == "NotPrincipal")
	list, several := v.([]any)
	if key == "Statement" && !several {
		return []any{v}
	}
	if principal {
		sortTexts(list)
	}
	return v
}

// sortTexts sorts a list of texts.
func sortTexts(list []any) {
	slices.SortFunc(list, func(a, b any) int {
		left, _ := a.(string)
		right, _ := b.(string)
		return bytes.Compare([]byte(left), []byte(right))
	})
}
