package iampolicy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

const (
	account    = "111111111111"
	rootARN    = "arn:aws:iam::" + account + ":root"
	roleARN    = "arn:aws:iam::" + account + ":role/app"
	sessionARN = "arn:aws:sts::" + account + ":assumed-role/app/one"
	queue      = "arn:aws:sqs:eu-west-1:" + account + ":orders"
	topic      = "arn:aws:sns:eu-west-1:" + account + ":news"
)

var senderKeys = iampolicy.Keys{"aws:SourceArn", "aws:SourceAccount", "aws:PrincipalArn", "aws:SecureTransport"}

func parseResource(t *testing.T, statements ...string) *iampolicy.ResourcePolicy {
	t.Helper()
	p, err := iampolicy.ParseResource([]byte(document(statements...)), senderKeys)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// onQueue completes a statement about sending to the queue.
func onQueue(effect, principal string, condition ...string) string {
	text := `{"Effect":"` + effect + `","Principal":` + principal + `,"Action":"sqs:SendMessage","Resource":"` + queue +
		`"`
	if len(condition) > 0 {
		text += `,"Condition":{` + condition[0] + `}`
	}
	return text + `}`
}

const sns = `{"Service":"sns.amazonaws.com"}`

func TestAQueueAdmitsServices(t *testing.T) {
	for name, tc := range map[string]struct {
		statements []string
		want       bool
	}{
		"the topic":                   {[]string{onQueue("Allow", sns, `"ArnEquals":{"aws:SourceArn":"`+topic+`"}`)}, true},
		"topics by a wildcard":        {[]string{onQueue("Allow", sns, `"ArnLike":{"aws:SourceArn":"arn:aws:sns:*:`+account+`:*"}`)}, true},
		"the account":                 {[]string{onQueue("Allow", sns, `"StringEquals":{"aws:SourceAccount":"`+account+`"}`)}, true},
		"both":                        {[]string{onQueue("Allow", sns, `"StringEquals":{"AWS:SourceAccount":"`+account+`"},"ArnLike":{"AWS:SourceArn":"`+topic+`"}`)}, true},
		"everybody, by topic":         {[]string{onQueue("Allow", `"*"`, `"ArnEquals":{"aws:SourceArn":"`+topic+`"}`)}, true},
		"everybody of AWS":            {[]string{onQueue("Allow", `{"AWS":"*"}`, `"ArnEquals":{"aws:SourceArn":"`+topic+`"}`)}, true},
		"no wildcard in StringEquals": {[]string{onQueue("Allow", sns, `"StringEquals":{"aws:SourceArn":"arn:aws:sns:*:*:*"}`)}, false},
		"another topic":               {[]string{onQueue("Allow", sns, `"ArnEquals":{"aws:SourceArn":"`+topic+`-old"}`)}, false},
		"another account":             {[]string{onQueue("Allow", sns, `"StringEquals":{"aws:SourceAccount":"222222222222"}`)}, false},
		"another service":             {[]string{onQueue("Allow", `{"Service":["s3.amazonaws.com","events.amazonaws.com"]}`)}, false},
		"an account is no service":    {[]string{onQueue("Allow", `{"AWS":"`+account+`"}`)}, false},
		"but denied":                  {[]string{onQueue("Allow", sns), onQueue("Deny", `"*"`, `"ArnNotEquals":{"aws:SourceArn":"arn:aws:sns:eu-west-1:`+account+`:other"}`)}, false},
		"all but others are denied": {[]string{
			onQueue("Allow", sns),
			strings.Replace(onQueue("Deny", sns), "Principal", "NotPrincipal", 1),
		}, true},
		"all but a role are denied": {[]string{onQueue("Allow", sns), strings.Replace(onQueue("Deny", `{"AWS":"`+roleARN+`"}`), "Principal", "NotPrincipal", 1)}, false},
	} {
		in := values("aws:SourceArn", topic, "aws:SourceAccount", account)
		r := iampolicy.Request{Action: "sqs:SendMessage", Resource: queue, Context: in}
		if got := parseResource(t, tc.statements...).Admits(r,
			iampolicy.Principal{Kind: "Service", Name: "sns.amazonaws.com"}); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	var no *iampolicy.ResourcePolicy
	if no.Admits(iampolicy.Request{Action: "sqs:SendMessage", Resource: queue},
		iampolicy.Principal{Kind: "Service", Name: "sns.amazonaws.com"}) {
		t.Error("no policy lets a service in")
	}
}

func TestPoliciesOfResourcesAndCallersTogether(t *testing.T) {
	self := []iampolicy.Principal{
		{Kind: "AWS", Name: sessionARN}, {Kind: "AWS", Name: roleARN}, {Kind: "AWS", Name: rootARN},
	}
	local, foreign := iampolicy.Caller{Names: self}, iampolicy.Caller{Names: self, Foreign: true}
	root := iampolicy.Caller{Names: self[2:], Root: true}
	foreignRoot := iampolicy.Caller{Names: self[2:], Root: true, Foreign: true}
	key := iampolicy.Caller{Names: self, ByPolicy: true}
	may := iampolicy.Policies{Identity: []*iampolicy.Policy{parse(t, document(allow(`"Action":"sqs:*","Resource":"*"`)))}}
	mayNot, denied := iampolicy.Policies{},
		iampolicy.Policies{Identity: []*iampolicy.Policy{parse(t, document(deny(`"Action":"*","Resource":"*"`)))}}
	elsewhere := parse(t, document(allow(`"Action":"s3:*","Resource":"*"`)))
	bounded := iampolicy.Policies{Boundary: elsewhere}
	inSession := iampolicy.Policies{Session: []*iampolicy.Policy{elsewhere}}
	not := func(names string) string {
		return strings.Replace(onQueue("Deny", `{"AWS":[`+names+`]}`), "Principal", "NotPrincipal", 1)
	}
	for name, tc := range map[string]struct {
		own        iampolicy.Policies
		who        iampolicy.Caller
		statements []string
		want       string // why it is denied; empty if it is allowed
	}{
		"by its own policy":                     {may, local, nil, ""},
		"by none":                               {mayNot, local, nil, "no identity-based policy"},
		"by the role's ARN":                     {mayNot, local, []string{onQueue("Allow", `{"AWS":"`+roleARN+`"}`)}, ""},
		"by everybody":                          {mayNot, local, []string{onQueue("Allow", `"*"`)}, ""},
		"its account may, and does not":         {mayNot, local, []string{onQueue("Allow", `{"AWS":"`+account+`"}`)}, "no identity-based policy"},
		"the role's ARN is limited by boundary": {bounded, local, []string{onQueue("Allow", `{"AWS":"`+roleARN+`"}`)}, "no permissions boundary"},
		"and by the session's policy":           {inSession, local, []string{onQueue("Allow", `{"AWS":"`+roleARN+`"}`)}, "no session policy"},
		"the session's ARN is not":              {bounded, local, []string{onQueue("Allow", `{"AWS":"`+sessionARN+`"}`)}, ""},
		"denied by the resource":                {may, local, []string{onQueue("Deny", `"*"`)}, "explicit deny in a resource-based policy"},
		"denied by account":                     {may, local, []string{onQueue("Deny", `{"AWS":"`+account+`"}`)}, "explicit deny in a resource-based policy"},
		"denied by itself":                      {denied, local, []string{onQueue("Allow", `{"AWS":"`+sessionARN+`"}`)}, "explicit deny in an identity-based policy"},
		"root needs nothing":                    {mayNot, root, nil, ""},
		"root is denied":                        {mayNot, root, []string{onQueue("Deny", `"*"`)}, "explicit deny in a resource-based policy"},
		"another account needs both":            {may, foreign, []string{onQueue("Allow", `{"AWS":"`+account+`"}`)}, ""},
		"its own is not enough":                 {may, foreign, nil, "no resource-based policy"},
		"nor is the other's":                    {mayNot, foreign, []string{onQueue("Allow", `{"AWS":"`+roleARN+`"}`)}, "no identity-based policy"},
		"another account's root, too":           {mayNot, foreignRoot, nil, "no resource-based policy"},
		"that is let in":                        {mayNot, foreignRoot, []string{onQueue("Allow", `{"AWS":"`+rootARN+`"}`)}, ""},
		"a key's policy must let in":            {may, key, nil, "no resource-based policy"},
		"a key's policy names the account":      {may, key, []string{onQueue("Allow", `{"AWS":"`+rootARN+`"}`)}, ""},
		"and the role's is missing":             {mayNot, key, []string{onQueue("Allow", `{"AWS":"`+rootARN+`"}`)}, "no identity-based policy"},
		"a key's policy names the role":         {mayNot, key, []string{onQueue("Allow", `{"AWS":"`+roleARN+`"}`)}, ""},
		"all but it are denied":                 {may, local, []string{not(`"` + sessionARN + `","` + roleARN + `","` + account + `"`)}, ""},
		"one of its names is missing":           {may, local, []string{not(`"` + roleARN + `","` + account + `"`)}, "explicit deny in a resource-based policy"},
	} {
		var on *iampolicy.ResourcePolicy
		if tc.statements != nil {
			on = parseResource(t, tc.statements...)
		}
		r := iampolicy.Request{Action: "sqs:SendMessage", Resource: queue, Context: values()}
		got := tc.own.DecideOn(r, on, tc.who)
		if got.Allowed != (tc.want == "") || !strings.Contains(got.Because(), tc.want) {
			t.Errorf("%s: %v, %q", name, got.Allowed, got.Because())
		}
	}
}

func TestPoliciesOfResourcesThatAreNone(t *testing.T) {
	whole := onQueue("Allow", `"*"`)
	for name, tc := range map[string]struct {
		text string
		want error // nil for any
	}{
		"no statement":    {`{"Version":"2012-10-17","Statement":[]}`, nil},
		"another version": {strings.Replace(document(whole), "2012-10-17", "2020-01-01", 1), nil},
		"no principal":    {document(allow(`"Action":"sqs:*","Resource":"*"`)), iampolicy.ErrPrincipal},
		"both":            {document(strings.Replace(whole, `"Action"`, `"NotPrincipal":"*","Action"`, 1)), iampolicy.ErrPrincipal},
		"NotPrincipal allows": {
			document(strings.Replace(whole, "Principal", "NotPrincipal", 1)),
			iampolicy.ErrPrincipal,
		},
		"nobody":                       {document(onQueue("Allow", `{"AWS":[]}`)), iampolicy.ErrPrincipal},
		"no kinds":                     {document(onQueue("Allow", `{}`)), iampolicy.ErrPrincipal},
		"an unknown kind":              {document(onQueue("Allow", `{"Role":"a"}`)), iampolicy.ErrPrincipal},
		"a short account":              {document(onQueue("Allow", `{"AWS":"1234"}`)), iampolicy.ErrPrincipal},
		"part of a principal":          {document(onQueue("Allow", `{"AWS":"arn:aws:iam::`+account+`:role/*"}`)), iampolicy.ErrPrincipal},
		"a group":                      {document(onQueue("Allow", `{"AWS":"arn:aws:iam::`+account+`:group/a"}`)), iampolicy.ErrPrincipal},
		"a service without its domain": {document(onQueue("Allow", `{"Service":"sns"}`)), iampolicy.ErrPrincipal},
		"all services":                 {document(onQueue("Allow", `{"Service":"*"}`)), iampolicy.ErrPrincipal},
		"a resource that is no ARN":    {document(strings.Replace(whole, queue, "orders", 1)), iampolicy.ErrResource},
		"an action without a service":  {document(strings.Replace(whole, "sqs:", "", 1)), iampolicy.ErrAction},
		"an unknown key":               {document(onQueue("Allow", `"*"`, `"StringEquals":{"aws:SourceArm":"a"}`)), iampolicy.ErrCondition},
		"an unknown operator":          {document(onQueue("Allow", `"*"`, `"ArnMatches":{"aws:SourceArn":"a"}`)), iampolicy.ErrCondition},
		"a Sid twice":                  {document(strings.Replace(whole, `{`, `{"Sid":"a",`, 1), strings.Replace(whole, `{`, `{"Sid":"a",`, 1)), nil},
		"an unknown element":           {document(strings.Replace(whole, `{`, `{"Who":"a",`, 1)), nil},
		"no JSON":                      {`{`, nil},
	} {
		_, err := iampolicy.ParseResource([]byte(tc.text), senderKeys)
		if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got := parseResource(t, whole, onQueue("Deny", `{"AWS":"`+account+`"}`)).Statements()
	if len(got) != 2 || got[0].Deny {
		t.Fatalf("statements %+v", got)
	}
	if !got[1].Deny || got[1].Principals[0].Name != account {
		t.Errorf("statements %+v", got)
	}
}
