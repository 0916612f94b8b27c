package senders_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/senders"
	"github.com/portico-platform/portico/controllers/aws/senders/senderstest"
	"github.com/portico-platform/portico/controllers/engine"
)

const (
	queue = "arn:aws:sqs:eu-west-1:111122223333:orders"
	topic = "arn:aws:sns:eu-west-1:111122223333:news"
)

// A hundred random changes, by Portico and by others, leave every statement of others unchanged.
func TestStatementsOfOthersSurviveEveryChange(t *testing.T) {
	lot := rand.New(rand.NewPCG(7, 7))
	in := map[string]string{}
	var theirs []string
	for n := range 100 {
		if lot.IntN(4) == 0 { // somebody adds a statement
			theirs = append(theirs, fmt.Sprintf(
				`{"Sid":"theirs%d","Effect":"Allow","Principal":{"AWS":"%012d"},"Action":"sqs:ReceiveMessage","Resource":"*","Condition":{"NumericLessThan":{"x":12345678901234567890}}}`, n, n))
			own, _ := iampolicy.Split(in["Policy"])
			in["Policy"] = iampolicy.Join(own, `{"Version":"2008-10-17","Id":"made by hand","Statement":[`+
				strings.Join(theirs, ",")+`]}`)
		}
		var sources []iampolicy.Source
		for i := range lot.IntN(4) {
			sources = append(sources, iampolicy.Source{ARN: fmt.Sprintf("%s%d", topic, i)},
				iampolicy.Source{ARN: fmt.Sprintf("arn:aws:s3:::b%d", i), Account: "111122223333"})
		}
		have := maps.Clone(in)
		senders.Divide(have)
		set := map[string]string{senders.Own: iampolicy.LetIn("sqs:SendMessage", queue, sources)}
		senders.Compose(set, have)
		in = set
		for _, statement := range theirs {
			if !strings.Contains(in["Policy"], statement) {
				t.Fatalf("change %d lost %s: %s", n, statement, in["Policy"])
			}
		}
		p, err := iampolicy.Parse(in["Policy"])
		if err != nil && in["Policy"] != "" {
			t.Fatal(err)
		}
		for _, s := range sources {
			if p.Admits(s.Request("sqs:SendMessage", queue)) != iampolicy.Yes {
				t.Fatalf("change %d does not let %s in: %s", n, s.ARN, in["Policy"])
			}
		}
		if p.Admits(iampolicy.Source{ARN: topic + "9"}.Request("sqs:SendMessage", queue)) != iampolicy.No {
			t.Fatalf("change %d lets others in: %s", n, in["Policy"])
		}
	}
}

// A bucket with the same name in another account may not send.
func TestABucketOfAnotherAccountIsNotLetIn(t *testing.T) {
	p, err := iampolicy.Parse(iampolicy.LetIn("sqs:SendMessage", queue,
		[]iampolicy.Source{{ARN: "arn:aws:s3:::docs", Account: "111122223333"}}))
	if err != nil {
		t.Fatal(err)
	}
	for account, want := range map[string]iampolicy.Answer{
		"111122223333": iampolicy.Yes,
		"444455556666": iampolicy.No,
	} {
		if got := p.Admits(iampolicy.Source{ARN: "arn:aws:s3:::docs", Account: account}.Request("sqs:SendMessage",
			queue)); got != want {
			t.Errorf("account %s: %d, want %d", account, got, want)
		}
	}
}

func TestAKeyThatKeepsSendersOut(t *testing.T) {
	const open = `{"Statement":{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":["kms:GenerateDataKey*","kms:Decrypt"],"Resource":"*"`
	for name, row := range map[string]struct {
		key  string
		keys senderstest.Keys
		says string // in the error; empty: none
	}{
		"none":      {"", senderstest.Keys{Policy: "{}"}, ""},
		"AWS's own": {"alias/aws/sqs", senderstest.Keys{}, "alias/aws/sqs is AWS's own"},
		"AWS's own, by its ARN": {
			"arn:aws:kms:eu-west-1:111122223333:alias/aws/sqs",
			senderstest.Keys{},
			"alias/aws/sqs is AWS's own",
		},
		"one that lets SNS in": {"alias/x", senderstest.Keys{Policy: open + `}}`}, ""},
		"one for another topic": {
			"alias/x",
			senderstest.Keys{
				Policy: open + `,"Condition":{"ArnLike":{"aws:SourceArn":"arn:aws:sns:*:*:other"}}}}`,
			},
			"does not let sns.amazonaws.com do kms:GenerateDataKey",
		},
		"one for the account alone": {
			"alias/x", senderstest.Keys{
				Policy: `{"Statement":{"Effect":"Allow","Principal":{"AWS":"111122223333"},"Action":"kms:*","Resource":"*"}}`,
			}, "does not let sns.amazonaws.com",
		},
		"by a condition of KMS": {"alias/x", senderstest.Keys{Policy: open + `,"Condition":{"StringEquals":{"kms:EncryptionContext:x":"y"}}}}`}, ""},
		"one that cannot be read": {
			"alias/x",
			senderstest.Keys{Fail: &smithy.GenericAPIError{Code: "AccessDeniedException"}},
			"",
		},
		"KMS does not answer": {
			"alias/x",
			senderstest.Keys{Fail: &smithy.GenericAPIError{Code: "InternalError"}},
			"",
		},
	} {
		err := (&senders.Found{Sources: []iampolicy.Source{{ARN: topic}}}).CheckKey(t.Context(), row.keys, row.key)
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want %q", name, err, row.says)
		}
		if wait, ok := engine.AsWait(err); row.says != "" && (!ok || wait.Reason != v1alpha1.ReasonKeyRefusesSender) {
			t.Errorf("%s: %v is no reason of the condition", name, err)
		}
	}
}
