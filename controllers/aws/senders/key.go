package senders

import (
	"cmp"
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// KeyAPI lists the calls that Portico makes to KMS.
type KeyAPI interface {
	DescribeKey(context.Context, *kms.DescribeKeyInput, ...func(*kms.Options)) (*kms.DescribeKeyOutput, error)
	GetKeyPolicy(context.Context, *kms.GetKeyPolicyInput, ...func(*kms.Options)) (*kms.GetKeyPolicyOutput, error)
}

var _ KeyAPI = (*kms.Client)(nil)

// Keys returns the KMS client of a session, nil where there is no KMS.
func Keys(session *cloud.Session) KeyAPI {
	if !session.Services.Offers(kms.ServiceID) {
		return nil
	}
	return cloud.Shared(session, func() *kms.Client { return kms.NewFromConfig(session.ConfigFor(kms.ServiceID)) })
}

// ofAWS is the prefix of the aliases of keys that AWS manages in the account. Their policies let no other service in,
// and cannot be changed.
const ofAWS = "alias/aws/"

// whatSendersDo are the KMS calls that a service makes to send to an encrypted resource. Source: Amazon SQS Developer
// Guide, "Key management".
var whatSendersDo = []string{"kms:GenerateDataKey", "kms:Decrypt"}

// CheckKey returns an error if the KMS key, an ID, ARN or alias, does not let a sender's service encrypt: messages are
// dropped then. It returns nil if there is no key or no sender, or if the key's policy cannot be read.
func (f *Found) CheckKey(ctx context.Context, keys KeyAPI, key string) error {
	if key == "" || len(f.Sources) == 0 || keys == nil {
		return nil
	}
	if key != f.asked { // a pass may observe several times
		f.asked, f.shut = key, nil
		f.answer = f.ask(ctx, keys, key)
	}
	return f.answer
}

// ask records the senders that the key does not let in.
func (f *Found) ask(ctx context.Context, keys KeyAPI, key string) error {
	if at := strings.Index(key, ofAWS); at >= 0 {
		f.shut = f.Sources
		return external.Postponed(engine.Blocked(v1alpha1.ReasonKeyRefusesSender,
			"spec.kmsMasterKeyId: the key %s is AWS's own, which lets no other service in, so that what %s "+
				"sends is dropped. Choose a KMS key of the account whose policy lets %[3]s use it, or take "+
				"kmsMasterKeyId out",
			key[at:], f.Sources[0].ARN, f.Sources[0].Request("", "").Service))
	}
	policy, arn := policyOf(ctx, keys, key)
	p, err := iampolicy.Parse(policy)
	if err != nil {
		return nil //nolint:nilerr // a policy that KMS took and Portico does not understand says nothing
	}
	var refusal error
	for _, source := range f.Sources {
		for _, action := range whatSendersDo {
			if r := source.Request(action, arn); p.Admits(r) == iampolicy.No {
				f.shut = append(f.shut, source)
				refusal = cmp.Or(refusal, engine.Blocked(v1alpha1.ReasonKeyRefusesSender,
					"the policy of the KMS key %s does not let %s do %s, so that what %s sends is dropped. "+
						"Ask who keeps the key to allow %s there, or choose another kmsMasterKeyId", key, r.Service,
					action,
					source.ARN, strings.Join(whatSendersDo, " and ")))
				break
			}
		}
	}
	if refusal == nil {
		return nil
	}
	return external.Postponed(refusal)
}

// policyOf returns the key's policy and ARN; no policy if it cannot be read. Problems of the key itself are reported by
// the calls of the queue or topic.
func policyOf(ctx context.Context, keys KeyAPI, key string) (policy, arn string) {
	described, err := keys.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: &key})
	if err != nil || described.KeyMetadata == nil {
		return "", ""
	}
	arn = aws.ToString(described.KeyMetadata.Arn)
	out, err := keys.GetKeyPolicy(ctx, &kms.GetKeyPolicyInput{KeyId: &arn, PolicyName: aws.String("default")})
	if err != nil {
		return "", ""
	}
	return aws.ToString(out.Policy), arn
}
