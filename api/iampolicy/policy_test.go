package iampolicy_test

import (
	"testing"

	"github.com/portico-platform/portico/api/iampolicy"
)

const account = "111122223333"

func TestAPolicyThatLocksTheOperatorOut(t *testing.T) {
	mine := func(p string) bool { return p == account || p == "arn:aws:iam::"+account+":root" }
	for name, row := range map[string]struct{ policy, by string }{
		"nothing denied":        {`{"Statement":{"Effect":"Allow","Principal":"*","Action":"*"}}`, ""},
		"everything to anybody": {`{"Statement":[{"Effect":"Deny","Principal":"*","Action":"*"}]}`, "number 1"},
		"in another case":       {`{"Statement":{"Sid":"no","Effect":"Deny","Principal":{"AWS":"*"},"Action":["SNS:SET*"]}}`, "no"},
		"one letter open":       {`{"Statement":{"Effect":"Deny","Principal":"*","Action":"sns:SetTopicAttribute?"}}`, "number 1"},
		"other actions":         {`{"Statement":{"Effect":"Deny","Principal":"*","Action":["sns:Publish","sns:Subscribe"]}}`, ""},
		"all but some":          {`{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sns:Publish"},{"Effect":"Deny","Principal":"*","NotAction":"sns:Publish"}]}`, "number 2"},
		"all but this":          {`{"Statement":{"Effect":"Deny","Principal":"*","NotAction":"sns:S*"}}`, ""},
		"the account":           {`{"Statement":{"Effect":"Deny","Principal":{"AWS":["arn:aws:iam::` + account + `:root"]},"Action":"sns:*"}}`, "number 1"},
		"another account":       {`{"Statement":{"Effect":"Deny","Principal":{"AWS":"999900001111"},"Action":"sns:*"}}`, ""},
		"a service":             {`{"Statement":{"Effect":"Deny","Principal":{"Service":"s3.amazonaws.com"},"Action":"sns:*"}}`, ""},
		"all but another":       {`{"Statement":{"Effect":"Deny","NotPrincipal":{"AWS":"999900001111"},"Action":"sns:*"}}`, "number 1"},
		"all but us":            {`{"Statement":{"Effect":"Deny","NotPrincipal":{"AWS":["` + account + `"]},"Action":"sns:*"}}`, ""},
		"without TLS":           {`{"Statement":{"Effect":"Deny","Principal":"*","Action":"sns:*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}}`, ""},
		"with TLS":              {`{"Statement":{"Effect":"Deny","Principal":"*","Action":"sns:*","Condition":{"Bool":{"aws:SecureTransport":["true"]}}}}`, "number 1"},
		"by a condition":        {`{"Statement":{"Effect":"Deny","Principal":"*","Action":"sns:*","Condition":{"StringNotEquals":{"aws:PrincipalOrgID":"o-1"}}}}`, "number 1"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := iampolicy.Parse(row.policy)
			if err != nil {
				t.Fatal(err)
			}
			by := ""
			if found := p.LocksOut([]string{"sns:SetTopicAttributes"}, mine); found != nil {
				by = found.Statement
			}
			if by != row.by {
				t.Errorf("locked out by statement %q, want %q", by, row.by)
			}
		})
	}
}

func TestWhatIsNoPolicy(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"Statement":"none"}`, `{"Statement":{"Principal":"somebody"}}`, `{"Statement":{"Action":{"a":1}}}`} {
		if p, err := iampolicy.Parse(text); err == nil {
			t.Errorf("%s is taken for the policy %+v", text, p)
		}
	}
}
