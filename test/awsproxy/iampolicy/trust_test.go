package iampolicy

import (
	"strings"
	"testing"
)

const trusting = `{"Version":"2012-10-17","Statement":[
	{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"],"Condition":{"StringEquals":{"aws:SourceAccount":"111111111111"}}},
	{"Effect":"Allow","Principal":{"AWS":["222222222222","arn:aws:iam::333333333333:role/a"]},"Action":"sts:AssumeRole"},
	{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::111111111111:oidc-provider/example.com/id"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"example.com/id:sub":"me"}}},
	{"Effect":"Deny","Principal":"*","Action":"sts:*","Condition":{"StringEquals":{"aws:SourceAccount":"9"}}}]}`

func TestTrust(t *testing.T) {
	trust, err := ParseTrust([]byte(trusting), Keys{"aws:SourceAccount"})
	if err != nil {
		t.Fatal(err)
	}
	pods := Principal{"Service", "pods.eks.amazonaws.com"}
	for name, c := range map[string]struct {
		action string
		who    Principal
		key    string
		value  string
		want   bool
	}{
		"service":                 {"sts:AssumeRole", pods, "aws:sourceaccount", "111111111111", true},
		"tags":                    {"sts:TagSession", pods, "aws:sourceaccount", "111111111111", true},
		"other condition":         {"sts:AssumeRole", pods, "aws:sourceaccount", "1", false},
		"other action":            {"sts:SetSourceIdentity", pods, "aws:sourceaccount", "111111111111", false},
		"other kind":              {"sts:AssumeRole", Principal{"AWS", pods.Name}, "aws:sourceaccount", "111111111111", false},
		"account by number":       {"sts:AssumeRole", Principal{"AWS", "arn:aws:iam::222222222222:root"}, "", "", true},
		"other account":           {"sts:AssumeRole", Principal{"AWS", "arn:aws:iam::22222222222:root"}, "", "", false},
		"role":                    {"sts:AssumeRole", Principal{"AWS", "arn:aws:iam::333333333333:role/a"}, "", "", true},
		"role of a trusted one":   {"sts:AssumeRole", Principal{"AWS", "arn:aws:iam::222222222222:role/a"}, "", "", false},
		"account of a role":       {"sts:AssumeRole", Principal{"AWS", "arn:aws:iam::333333333333:root"}, "", "", false},
		"web identity":            {"sts:AssumeRoleWithWebIdentity", Principal{"Federated", "arn:aws:iam::111111111111:oidc-provider/example.com/id"}, "example.com/id:sub", "me", true},
		"web identity of another": {"sts:AssumeRoleWithWebIdentity", Principal{"Federated", "arn:aws:iam::111111111111:oidc-provider/example.com/id"}, "example.com/id:sub", "you", false},
	} {
		in := func(key string) []string {
			if key == c.key {
				return []string{c.value}
			}
			return nil
		}
		if got := trust.Allows(c.action, c.who, in); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !trust.Mentions("sts:AssumeRole", pods) ||
		trust.Mentions("sts:AssumeRole", Principal{"Service", "ec2.amazonaws.com"}) {
		t.Error("services that are mentioned")
	}
	denied := func(string) []string { return []string{"9"} }
	for _, p := range []Principal{{"AWS", "anybody"}, pods} {
		if !trust.Denies("sts:AssumeRole", p, denied) {
			t.Errorf("%v is not denied", p)
		}
	}
	if trust.Denies("sts:AssumeRole", pods, nil) {
		t.Errorf("%v is denied without the condition's value", pods)
	}
	if len(trust.Principals()) != 5 {
		t.Errorf("principals %v", trust.Principals())
	}
}

func TestTrustPoliciesThatAreNone(t *testing.T) {
	for name, change := range map[string][2]string{
		"a resource":         {`"Effect":"Allow"`, `"Resource":"*","Effect":"Allow"`},
		"no principal":       {`"Principal":{"Service":"pods.eks.amazonaws.com"},`, ``},
		"a kind of its own":  {`"Service"`, `"Team"`},
		"an action of S3":    {`"sts:TagSession"`, `"s3:GetObject"`},
		"no action":          {`"Action":["sts:AssumeRole","sts:TagSession"],`, ``},
		"another effect":     {`"Effect":"Deny"`, `"Effect":"Perhaps"`},
		"an unknown key":     {`"aws:SourceAccount":"9"`, `"aws:Source":"9"`},
		"another provider's": {`"example.com/id:sub"`, `"example.com/other:sub"`},
		"another version":    {`2012-10-17`, `2013-01-01`},
		"no JSON":            {`{"Version"`, `"Version"`},
	} {
		if _, err := ParseTrust([]byte(strings.Replace(trusting, change[0], change[1], 1)),
			Keys{"aws:SourceAccount"}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
