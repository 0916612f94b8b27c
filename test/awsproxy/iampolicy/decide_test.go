package iampolicy_test

import (
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// keys are the condition keys that the tests give values for.
var keys = iampolicy.Keys{
	"aws:PrincipalTag/", "aws:RequestTag/", "aws:ResourceTag/", "aws:TagKeys", "aws:SourceIp",
	"aws:CurrentTime", "aws:PrincipalArn", "s3:max-keys", "aws:SecureTransport",
}

func parse(t *testing.T, text string) *iampolicy.Policy {
	t.Helper()
	p, err := iampolicy.Parse([]byte(text), keys)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// values returns a context from pairs of keys and values; a | separates several values.
func values(pairs ...string) iampolicy.Context {
	all := map[string][]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[strings.ToLower(pairs[i])] = strings.Split(pairs[i+1], "|")
	}
	return func(key string) []string { return all[key] }
}

func allow(rest string) string { return `{"Effect":"Allow",` + rest + `}` }

func deny(rest string) string { return `{"Effect":"Deny",` + rest + `}` }

func document(statements ...string) string {
	return `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`
}

const bucket = "arn:aws:s3:::team-a-logs"

func TestStatementsAreAboutActionsAndResources(t *testing.T) {
	for name, tc := range map[string]struct {
		statement, action, resource string
		want                        bool
	}{
		"the very action":                   {`"Action":"s3:GetObject","Resource":"*"`, "s3:GetObject", bucket, true},
		"another action":                    {`"Action":"s3:GetObject","Resource":"*"`, "s3:PutObject", bucket, false},
		"another service":                   {`"Action":"s3:*","Resource":"*"`, "sqs:CreateQueue", bucket, false},
		"case of actions does not matter":   {`"Action":"S3:getbucketcors","Resource":"*"`, "s3:GetBucketCORS", bucket, true},
		"a wildcard in an action":           {`"Action":"s3:Get*","Resource":"*"`, "s3:GetObject", bucket, true},
		"one character":                     {`"Action":"s3:Ge?Object","Resource":"*"`, "s3:GetObject", bucket, true},
		"all actions":                       {`"Action":"*","Resource":"*"`, "s3:GetObject", bucket, true},
		"not an action":                     {`"NotAction":["iam:*","sts:*"],"Resource":"*"`, "s3:GetObject", bucket, true},
		"but this one":                      {`"NotAction":["iam:*","sts:*"],"Resource":"*"`, "iam:PassRole", bucket, false},
		"case of resources matters":         {`"Action":"s3:*","Resource":"arn:aws:s3:::Team-a-*"`, "s3:GetObject", bucket, false},
		"a wildcard crosses hyphens":        {`"Action":"s3:*","Resource":"arn:aws:s3:::team-*"`, "s3:GetObject", bucket, true},
		"a wildcard crosses slashes":        {`"Action":"s3:*","Resource":"arn:aws:s3:::team-*"`, "s3:GetObject", bucket + "/a/b", true},
		"a wildcard crosses colons":         {`"Action":"s3:*","Resource":"arn:aws:sqs:*"`, "s3:GetObject", "arn:aws:sqs:eu-west-1:1:q", true},
		"a wildcard within":                 {`"Action":"s3:*","Resource":"arn:*:s3:::*-logs"`, "s3:GetObject", bucket, true},
		"no wildcard, no more":              {`"Action":"s3:*","Resource":"arn:aws:s3:::team-a"`, "s3:GetObject", bucket, false},
		"one of several resources":          {`"Action":"s3:*","Resource":["arn:aws:s3:::x","` + bucket + `"]`, "s3:GetObject", bucket, true},
		"not a resource":                    {`"Action":"s3:*","NotResource":"arn:aws:s3:::x"`, "s3:GetObject", bucket, true},
		"but this resource":                 {`"Action":"s3:*","NotResource":"` + bucket + `"`, "s3:GetObject", bucket, false},
		"a variable in a resource":          {`"Action":"s3:*","Resource":"arn:aws:s3:::${aws:PrincipalTag/team}-*"`, "s3:GetObject", bucket, true},
		"a variable of no case":             {`"Action":"s3:*","Resource":"arn:aws:s3:::${AWS:principaltag/TEAM}-*"`, "s3:GetObject", bucket, true},
		"a variable without a value":        {`"Action":"s3:*","Resource":"arn:aws:s3:::${aws:PrincipalTag/none}*"`, "s3:GetObject", bucket, false},
		"a variable with a default":         {`"Action":"s3:*","Resource":"arn:aws:s3:::${aws:PrincipalTag/none, 'team-a'}-*"`, "s3:GetObject", bucket, true},
		"a value's wildcard is an asterisk": {`"Action":"s3:*","Resource":"arn:aws:s3:::${aws:PrincipalTag/star}"`, "s3:GetObject", bucket, false},
		"an asterisk itself":                {`"Action":"s3:*","Resource":"arn:aws:s3:::${*}"`, "s3:GetObject", bucket, false},
		"that asterisk":                     {`"Action":"s3:*","Resource":"arn:aws:s3:::${*}"`, "s3:GetObject", "arn:aws:s3:::*", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := iampolicy.Policies{Identity: []*iampolicy.Policy{parse(t, document(allow(tc.statement)))}}
			in := values("aws:PrincipalTag/team", "team-a", "aws:PrincipalTag/star", "*")
			if got := p.Decide(iampolicy.Request{
				Action: tc.action, Resource: tc.resource, Context: in,
			}); got.Allowed != tc.want {
				t.Errorf("allowed: %v, want %v", got.Allowed, tc.want)
			}
		})
	}
}

// TestConditions checks, for each condition in the table, whether the context below meets it.
func TestConditions(t *testing.T) {
	in := values(
		"aws:RequestTag/team", "team-a", "aws:PrincipalTag/team", "team-a", "aws:PrincipalTag/other", "team-b",
		"aws:ResourceTag/size", "7",
		"aws:TagKeys", "team|cost", "aws:SourceIp", "10.1.2.3", "aws:CurrentTime", "2026-05-01T10:00:00Z",
		"aws:PrincipalArn", "arn:aws:iam::123456789012:role/portico/x", "aws:SecureTransport", "true",
		"aws:ResourceTag/empty", "",
	)
	for condition, want := range map[string]bool{
		`"StringEquals":{"aws:RequestTag/team":"team-a"}`:                                        true,
		`"StringEquals":{"AWS:requesttag/TEAM":"team-a"}`:                                        true,
		`"StringEquals":{"aws:RequestTag/team":"Team-a"}`:                                        false,
		`"StringEquals":{"aws:RequestTag/team":"team-*"}`:                                        false,
		`"StringEquals":{"aws:RequestTag/team":["x","team-a"]}`:                                  true,
		`"StringEquals":{"aws:RequestTag/none":"team-a"}`:                                        false,
		`"StringEquals":{"aws:RequestTag/team":"${aws:PrincipalTag/team}"}`:                      true,
		`"StringEquals":{"aws:RequestTag/team":"${aws:PrincipalTag/other}"}`:                     false,
		`"StringEquals":{"aws:RequestTag/team":"${aws:PrincipalTag/none}"}`:                      false,
		`"StringEquals":{"aws:RequestTag/team":"team-a","aws:RequestTag/none":"x"}`:              false,
		`"StringEquals":{"aws:RequestTag/team":"team-a"},"Bool":{"aws:SecureTransport":"false"}`: false,
		`"StringEquals":{"aws:ResourceTag/empty":""}`:                                            true,
		`"StringEqualsIfExists":{"aws:RequestTag/none":"x"}`:                                     true,
		`"StringEqualsIfExists":{"aws:RequestTag/team":"x"}`:                                     false,
		`"StringEqualsIgnoreCase":{"aws:RequestTag/team":"TEAM-A"}`:                              true,
		`"StringNotEquals":{"aws:RequestTag/team":"team-b"}`:                                     true,
		`"StringNotEquals":{"aws:RequestTag/team":["team-b","team-a"]}`:                          false,
		`"StringNotEquals":{"aws:RequestTag/none":"team-a"}`:                                     true,
		`"StringNotEqualsIgnoreCase":{"aws:RequestTag/team":"TEAM-A"}`:                           false,
		`"StringLike":{"aws:RequestTag/team":"t?am-*"}`:                                          true,
		`"StringLike":{"aws:RequestTag/team":"${aws:PrincipalTag/team}*"}`:                       true,
		`"StringLike":{"aws:RequestTag/none":"*"}`:                                               false,
		`"StringNotLike":{"aws:RequestTag/team":"team-*"}`:                                       false,
		`"StringNotLike":{"aws:RequestTag/none":"team-*"}`:                                       true,
		`"Null":{"aws:RequestTag/team":"false"}`:                                                 true,
		`"Null":{"aws:RequestTag/team":true}`:                                                    false,
		`"Null":{"aws:RequestTag/none":"true"}`:                                                  true,
		`"Null":{"aws:RequestTag/none":"false"}`:                                                 false,
		`"Bool":{"aws:SecureTransport":true}`:                                                    true,
		`"Bool":{"aws:SecureTransport":"False"}`:                                                 false,
		`"BoolIfExists":{"aws:RequestTag/none":"true"}`:                                          true,
		`"NumericEquals":{"aws:ResourceTag/size":7}`:                                             true,
		`"NumericNotEquals":{"aws:ResourceTag/size":"7.0"}`:                                      false,
		`"NumericLessThan":{"aws:ResourceTag/size":"10"}`:                                        true,
		`"NumericLessThanEquals":{"aws:ResourceTag/size":"6"}`:                                   false,
		`"NumericGreaterThan":{"aws:ResourceTag/size":"6.5"}`:                                    true,
		`"NumericGreaterThanEquals":{"aws:ResourceTag/size":"7"}`:                                true,
		`"NumericLessThan":{"aws:RequestTag/team":"10"}`:                                         false,
		`"NumericLessThan":{"aws:RequestTag/none":"10"}`:                                         false,
		`"DateGreaterThan":{"aws:CurrentTime":"2026-04-30"}`:                                     true,
		`"DateLessThan":{"aws:CurrentTime":"1700000000"}`:                                        false,
		`"IpAddress":{"aws:SourceIp":["192.168.0.0/16","10.0.0.0/8"]}`:                           true,
		`"NotIpAddress":{"aws:SourceIp":"10.1.2.3"}`:                                             false,
		`"ArnLike":{"aws:PrincipalArn":"arn:aws:iam::*:role/portico/*"}`:                         true,
		`"ArnEquals":{"aws:PrincipalArn":"arn:*:iam::123456789012:role/*"}`:                      true,
		`"ArnLike":{"aws:PrincipalArn":"arn:aws:*"}`:                                             false,
		`"ArnNotLike":{"aws:PrincipalArn":"arn:aws:iam::*:role/portico/*"}`:                      false,
		`"ForAllValues:StringEquals":{"aws:TagKeys":["team","cost","more"]}`:                     true,
		`"ForAllValues:StringEquals":{"aws:TagKeys":["team"]}`:                                   false,
		`"ForAllValues:StringEquals":{"aws:RequestTag/none":["team"]}`:                           true,
		`"ForAllValues:StringNotEquals":{"aws:TagKeys":["x"]}`:                                   true,
		`"ForAnyValue:StringEquals":{"aws:TagKeys":["x","cost"]}`:                                true,
		`"ForAnyValue:StringEquals":{"aws:TagKeys":["x"]}`:                                       false,
		`"ForAnyValue:StringEquals":{"aws:RequestTag/none":["x"]}`:                               false,
		`"ForAnyValue:StringNotEquals":{"aws:RequestTag/none":["x"]}`:                            false,
		`"ForAnyValue:StringNotEquals":{"aws:TagKeys":["team"]}`:                                 true,
		`"ForAnyValue:StringLike":{"aws:TagKeys":"c*"}`:                                          true,
		`"ForAllValues:StringLike":{"aws:TagKeys":"c*"}`:                                         false,
	} {
		p := iampolicy.Policies{Identity: []*iampolicy.Policy{
			parse(t, document(allow(`"Action":"s3:*","Resource":"*","Condition":{`+condition+`}`))),
		}}
		got := p.Decide(iampolicy.Request{Action: "s3:GetObject", Resource: bucket, Context: in})
		if got.Allowed != want {
			t.Errorf("%s: %v, want %v", condition, got.Allowed, want)
		}
	}
}

func TestAnExplicitDenyWinsAndAllLimitsHold(t *testing.T) {
	all := parse(t, document(allow(`"Action":"*","Resource":"*"`)))
	read := parse(t, document(allow(`"Action":"s3:Get*","Resource":"*"`)))
	forbids := parse(t, document(allow(`"Action":"*","Resource":"*"`), deny(`"Action":"s3:Put*","Resource":"*"`)))
	list := func(p ...*iampolicy.Policy) []*iampolicy.Policy { return p }
	for name, tc := range map[string]struct {
		policies iampolicy.Policies
		because  string
	}{
		"no policy at all":                {iampolicy.Policies{}, "because no identity-based policy allows the s3:PutObject action"},
		"allowed":                         {iampolicy.Policies{Identity: list(all)}, ""},
		"one of two allows":               {iampolicy.Policies{Identity: list(read, all)}, ""},
		"one of two denies":               {iampolicy.Policies{Identity: list(all, forbids)}, "with an explicit deny in an identity-based policy"},
		"the boundary does not allow":     {iampolicy.Policies{Identity: list(all), Boundary: read}, "because no permissions boundary allows the s3:PutObject action"},
		"the boundary denies":             {iampolicy.Policies{Identity: list(all), Boundary: forbids}, "with an explicit deny in a permissions boundary"},
		"the boundary alone":              {iampolicy.Policies{Boundary: all}, "because no identity-based policy allows the s3:PutObject action"},
		"the session does not allow":      {iampolicy.Policies{Identity: list(all), Session: list(read)}, "because no session policy allows the s3:PutObject action"},
		"the session denies":              {iampolicy.Policies{Identity: list(all), Session: list(forbids)}, "with an explicit deny in a session policy"},
		"the session alone":               {iampolicy.Policies{Session: list(all)}, "because no identity-based policy allows the s3:PutObject action"},
		"all three allow":                 {iampolicy.Policies{Identity: list(all), Boundary: all, Session: list(all)}, ""},
		"a deny counts before what lacks": {iampolicy.Policies{Identity: list(read), Session: list(forbids)}, "with an explicit deny in a session policy"},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.policies.Decide(iampolicy.Request{Action: "s3:PutObject", Resource: bucket})
			if got.Allowed != (tc.because == "") || got.Because() != tc.because {
				t.Errorf("%+v, want %q", got, tc.because)
			}
		})
	}
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                        "unexpected",
		`{"Version":"2012-10-17"}`: "no statement",
		`{"Version":"2020-01-01","Statement":` + allow(`"Action":"s3:*","Resource":"*"`) +
			`}`: "version",
		`{"Version":"2012-10-17","Statements":[]}`: "unknown field",
		document(
			`{"Effect":"Permit","Action":"s3:*","Resource":"*"}`): "effect",
		document(
			allow(`"Action":"s3:*"`)): "Resource",
		document(
			allow(`"Action":"s3:*","NotAction":"s3:*","Resource":"*"`)): "Action",
		document(
			allow(`"Resource":"*"`)): "Action",
		document(
			allow(`"Action":[],"Resource":"*"`)): "empty",
		document(
			allow(`"Action":"GetObject","Resource":"*"`)): "GetObject",
		document(
			allow(`"Action":"s3:*","Resource":"bucket"`)): "no ARN",
		document(
			allow(`"Action":"s3:*","Resource":"*","Principal":"*"`)): "unknown field",
		document(
			allow(`"Action":"s3:*","Resource":"arn:aws:s3:::${aws:Unheard}"`)): "aws:Unheard",
		document(
			allow(`"Action":"s3:*","Resource":"arn:aws:s3:::${aws:PrincipalTag/"`)): "without an end",
		document(
			allow(`"Action":"s3:*","Resource":"*","Condition":{"StringIs":{"aws:TagKeys":"a"}}`)): "StringIs",
		document(
			allow(
				`"Action":"s3:*","Resource":"*","Condition":{"NullIfExists":{"aws:TagKeys":"true"}}`)): "NullIfExists",
		document(
			allow(`"Action":"s3:*","Resource":"*","Condition":{"ForSome:StringLike":{"aws:TagKeys":"a"}}`)): "ForSome",
		document(
			allow(
				`"Action":"s3:*","Resource":"*","Condition":{"StringEquals":{"aws:TagKey":"a"}}`)): "aws:TagKey has no value",
		document(
			allow(
				`"Action":"s3:*","Resource":"*","Condition":{"StringEquals":{"aws:RequestTag/":"a"}}`)): "aws:RequestTag/",
		document(
			allow(`"Action":"s3:*","Resource":"*","Condition":{"StringEquals":{"aws:TagKeys":[]}}`)): "empty",
		document(
			allow(`"Action":"s3:*","Resource":"*","Condition":{"StringEquals":{"aws:TagKeys":{}}}`)): "no text",
		document(
			allow(`"Action":"s3:*","Resource":"*","Condition":{"NumericEquals":{"s3:max-keys":"ten"}}`)): "ten",
		document(
			allow(
				`"Action":"s3:*","Resource":"*","Condition":{"StringEquals":{"aws:TagKeys":"a"},"StringEquals":{"aws:TagKeys":"b"}}`)): "twice",
	} {
		if _, err := iampolicy.Parse([]byte(text), keys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}

// TestVariablesAreTextInTheOldVersion checks that documents of version 2008-10-17 have no variables.
func TestVariablesAreTextInTheOldVersion(t *testing.T) {
	p := parse(t, `{"Version":"2008-10-17","Statement":`+
		allow(`"Action":"s3:*","Resource":"arn:aws:s3:::${aws:PrincipalTag/team}-*"`)+`}`)
	in := values("aws:PrincipalTag/team", "team-a")
	of := iampolicy.Policies{Identity: []*iampolicy.Policy{p}}
	if of.Decide(iampolicy.Request{Action: "s3:GetObject", Resource: bucket, Context: in}).Allowed {
		t.Error("the variable was replaced")
	}
}
