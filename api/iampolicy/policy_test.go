package iampolicy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/iampolicy"
)

const account = "111122223333"

func TestAPolicyThatLocksTheOperatorOut(t *testing.T) {
	const role, session = "arn:aws:iam::" + account + ":role/platform/portico",
		"arn:aws:sts::" + account + ":assumed-role/portico/a"
	mine := iampolicy.Caller{Account: account, ARN: "arn:aws:sts::" + account + ":assumed-role/portico"}
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
		"all but the account":   {`{"Statement":{"Effect":"Deny","NotPrincipal":{"AWS":["` + account + `"]},"Action":"sns:*"}}`, "number 1"},
		"all but us":            {`{"Statement":{"Effect":"Deny","NotPrincipal":{"AWS":["` + account + `","` + role + `"]},"Action":"sns:*"}}`, ""},
		"our role":              {`{"Statement":{"Effect":"Deny","Principal":{"AWS":["` + role + `"]},"Action":"sns:*"}}`, "number 1"},
		"our session":           {`{"Statement":{"Effect":"Deny","Principal":{"AWS":["` + session + `"]},"Action":"sns:*"}}`, "number 1"},
		"another role":          {`{"Statement":{"Effect":"Deny","Principal":{"AWS":["arn:aws:iam::` + account + `:role/app"]},"Action":"sns:*"}}`, ""},
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
	for _, text := range []string{
		"", "{", "[]", `{"Statement":"none"}`, `{"Statement":{"Principal":"somebody"}}`,
		`{"Statement":{"Action":{"a":1}}}`,
	} {
		if p, err := iampolicy.Parse(text); err == nil {
			t.Errorf("%s is taken for the policy %+v", text, p)
		}
	}
}

func TestPoliciesThatMeanTheSameAreEqual(t *testing.T) {
	a := iampolicy.Normal(
		`{"Statement":[{"Action":["sns:Publish","sns:Subscribe"],"Principal":{"AWS":["arn:aws:iam::111122223333:root"]},"Condition":{"Bool":{"x":true}}}]}`)
	b := iampolicy.Normal(
		`{"Statement":{"Principal":{"AWS":"111122223333"},"Condition":{"Bool":{"x":["true"]}},"Action":["sns:Subscribe","sns:Publish"]}}`)
	if a != b || a == iampolicy.Normal(`{"Statement":{}}`) || iampolicy.Normal("{") != "{" {
		t.Errorf("%s\n%s", a, b)
	}
}

func TestWhatAWSAndPorticoMayReadDifferently(t *testing.T) {
	for name, row := range map[string]struct{ policy, says string }{
		"plain":               {`{"Version":"2012-10-17","Id":"x","Statement":[{"Sid":"a","Effect":"Allow","Principal":"*","Action":"sqs:*","Resource":"*","Condition":{}}]}`, ""},
		"one statement":       {`{"Statement":{"Effect":"Deny","NotPrincipal":{"AWS":"*"},"NotAction":"sqs:*","NotResource":"*"}}`, ""},
		"another case":        {`{"Statement":{"Effect":"Allow","Principal":"*","principal":{"AWS":"1"}}}`, `"principal" is no element of a statement`},
		"twice":               {`{"Statement":{"Effect":"Allow","Effect":"Deny"}}`, "a statement has Effect twice"},
		"two lists":           {`{"Statement":[],"Statement":[]}`, "a policy has Statement twice"},
		"an unknown element":  {`{"Statements":[]}`, `"Statements" is no element of a policy`},
		"a version in digits": {`{"Version":2012,"Statement":[]}`, "Version of a policy"},
		"no policy":           {`[]`, "no policy in JSON"},
	} {
		_, err := iampolicy.ParseStrictly(row.policy)
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want %q", name, err, row.says)
		}
	}
}

// Outsiders names everybody from outside of the account whom a policy lets in, however the statement looks.
func TestWhomAPolicyLetsInFromOutside(t *testing.T) {
	const foreign = "999900001111"
	allow := func(principal, condition string) string {
		return `{"Statement":{"Effect":"Allow","Principal":` + principal + `,"Action":"sqs:*","Resource":"*"` +
			condition + `}}`
	}
	for name, row := range map[string]struct {
		policy string
		want   []string
	}{
		"the account":            {allow(`{"AWS":["`+account+`","arn:aws:iam::`+account+`:role/app"]}`, ""), nil},
		"everybody":              {allow(`"*"`, ""), []string{"*"}},
		"another account":        {allow(`{"AWS":"arn:aws:iam::`+foreign+`:root"}`, ""), []string{foreign}},
		"a service":              {allow(`{"Service":"sns.amazonaws.com"}`, ""), []string{"sns.amazonaws.com"}},
		"its own topics":         {allow(`{"Service":"sns.amazonaws.com"}`, `,"Condition":{"ArnLike":{"aws:SourceArn":"arn:aws:sns:*:`+account+`:*"}}`), nil},
		"its callers":            {allow(`"*"`, `,"Condition":{"StringEquals":{"aws:PrincipalAccount":"`+account+`"}}`), nil},
		"a text over parts":      {allow(`"*"`, `,"Condition":{"StringLike":{"aws:PrincipalArn":"arn:aws:iam:*:`+account+`:*"}}`), []string{"*"}},
		"a text of its own part": {allow(`"*"`, `,"Condition":{"StringLike":{"aws:PrincipalArn":"arn:aws:iam::`+account+`:role/*"}}`), nil},
		"any value will do":      {allow(`"*"`, `,"Condition":{"ForAnyValue:StringEquals":{"aws:PrincipalAccount":"`+account+`"}}`), []string{"*"}},
		"if there is one":        {allow(`"*"`, `,"Condition":{"StringEqualsIfExists":{"aws:PrincipalAccount":"`+account+`"}}`), []string{"*"}},
		"all but some":           {`{"Statement":{"Effect":"Allow","NotPrincipal":{"AWS":"` + foreign + `"},"Action":"sqs:*"}}`, []string{"*"}},
	} {
		p, err := iampolicy.Parse(row.policy)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Outsiders(account); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
		if got := p.Outsiders(""); len(got) == 0 {
			t.Errorf("%s: nobody, as long as the account is not known", name)
		}
	}
}

// Somebody who is let in already and is given more is named again.
func TestMoreForSomebodyIsAdded(t *testing.T) {
	const (
		bounded = `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Condition":{"StringEquals":{"aws:PrincipalOrgID":"o-1"}}}]}`
		same    = `{"Statement":{"Principal":{"AWS":"*"},"Effect":"Allow","Action":["sqs:SendMessage"],"Condition":{"StringEquals":{"aws:PrincipalOrgID":["o-1"]}}}}`
		open    = `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:*"}]}`
	)
	for is, want := range map[string]int{bounded: 0, same: 0, open: 1} {
		p, err := iampolicy.Added(bounded, is)
		if err != nil || len(p.Outsiders(account)) != want {
			t.Errorf("%s adds %q, %v", is, p.Outsiders(account), err)
		}
	}
}

// The policy that SNS gives a new topic lets no bucket publish: Amazon S3 User Guide, "Granting permissions to publish
// event notification messages to a destination".
func TestTheFirstPolicyOfATopicLetsNoBucketIn(t *testing.T) {
	p,
		err := iampolicy.Parse(`{"Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":["SNS:Publish"],"Resource":"*",
		"Condition":{"StringEquals":{"AWS:SourceOwner":"` + account + `"}}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	for arn, want := range map[string]iampolicy.Answer{
		"arn:aws:s3:::docs": iampolicy.No, "arn:aws:events:eu-west-1:" + account + ":rule/nightly": iampolicy.Unknown,
	} {
		source := iampolicy.Source{ARN: arn, Account: account}
		if got := p.Admits(source.Request("sns:Publish", "arn:aws:sns:eu-west-1:"+account+":news")); got != want {
			t.Errorf("%s: %d, want %d", arn, got, want)
		}
	}
}

// What a service asks for on behalf of a topic, as AWS judges it. Unknown is what Portico cannot tell.
func TestWhetherAPolicyLetsAServiceIn(t *testing.T) {
	request := iampolicy.Request{
		Service: "sns.amazonaws.com", Action: "sqs:SendMessage", Resource: "arn:aws:sqs:eu-west-1:" + account + ":q",
		SourceARN: "arn:aws:sns:eu-west-1:" + account + ":news", SourceAccount: account,
	}
	const allow = `{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":"*"`
	for name, row := range map[string]struct {
		statements string
		want       iampolicy.Answer
	}{
		"nothing":                {`{"Effect":"Allow","Principal":{"AWS":"` + account + `"},"Action":"*"}`, iampolicy.No},
		"the service":            {allow + `}`, iampolicy.Yes},
		"this topic":             {allow + `,"Condition":{"ArnEquals":{"aws:SourceArn":"arn:aws:sns:*:*:news"}}}`, iampolicy.Yes},
		"parts do not fit":       {allow + `,"Condition":{"ArnLike":{"aws:SourceArn":"arn:aws:sns:*"}}}`, iampolicy.No},
		"a variable":             {allow + `,"Condition":{"ArnLike":{"aws:SourceArn":"arn:aws:sns:*:${aws:ResourceAccount}:*"}}}`, iampolicy.Unknown},
		"with TLS":               {allow + `,"Condition":{"Bool":{"aws:SecureTransport":"True"}}}`, iampolicy.Yes},
		"of one region":          {`{"Effect":"Allow","Principal":{"Service":"sns.eu-west-1.amazonaws.com"},"Action":"sqs:*"}`, iampolicy.Unknown},
		"in capitals":            {`{"Effect":"Allow","Principal":{"Service":"SNS.amazonaws.com"},"Action":"sqs:*"}`, iampolicy.Yes},
		"but for the company":    {allow + `},{"Effect":"Deny","Principal":"*","Action":"*","Condition":{"StringNotEquals":{"aws:PrincipalOrgID":"o-1"}}}`, iampolicy.No},
		"but for those known":    {allow + `},{"Effect":"Deny","Principal":"*","Action":"*","Condition":{"StringEquals":{"aws:PrincipalOrgID":"o-1"}}}`, iampolicy.Yes},
		"but for some addresses": {allow + `},{"Effect":"Deny","Principal":"*","Action":"*","Condition":{"NotIpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}`, iampolicy.Unknown},
	} {
		p, err := iampolicy.Parse(`{"Statement":[` + row.statements + `]}`)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Admits(request); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}
