// Package senderstest provides the parts of AWS that tests of senders need.
package senderstest

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
)

// ARN is the ARN of the key in Keys.
const ARN = "arn:aws:kms:eu-west-1:111122223333:key/k"

// Keys is a KMS with one key and its policy; "" lets every service in. Fail is the error of every call.
type Keys struct {
	Policy string
	Fail   error
}

// DescribeKey implements senders.KeyAPI.
func (k Keys) DescribeKey(context.Context, *kms.DescribeKeyInput, ...func(*kms.Options)) (
	*kms.DescribeKeyOutput, error,
) {
	arn := ARN
	return &kms.DescribeKeyOutput{KeyMetadata: &kmstypes.KeyMetadata{Arn: &arn}}, k.Fail
}

// GetKeyPolicy implements senders.KeyAPI.
func (k Keys) GetKeyPolicy(context.Context, *kms.GetKeyPolicyInput, ...func(*kms.Options)) (
	*kms.GetKeyPolicyOutput, error,
) {
	if k.Policy == "" {
		k.Policy = `{"Statement":{"Effect":"Allow","Principal":{"Service":["sns.amazonaws.com","s3.amazonaws.com"]},"Action":"kms:*","Resource":"*"}}`
	}
	return &kms.GetKeyPolicyOutput{Policy: &k.Policy}, k.Fail
}
