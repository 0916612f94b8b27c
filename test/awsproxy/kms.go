package awsproxy

import (
	"context"
	"net/http"
)

// kmsService refuses key policies that KMS does not accept; moto accepts any. Source: "Key policies in AWS KMS" of
// its guide. policyFor judges which principals may use a key, and keyAdmits which services may.
type kmsService struct{ upstream *upstream }

func newKMS(up *upstream) *kmsService { return &kmsService{upstream: up} }

func (s *kmsService) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	policy, given := x.json["Policy"].(string)
	if x.call.Operation == "CreateKey" || x.call.Operation == "PutKeyPolicy" {
		if _, err := ParseResourcePolicy([]byte(policy)); given && err != nil {
			return x.fail(http.StatusBadRequest, "MalformedPolicyDocumentException", err.Error()), nil
		}
	}
	return next(ctx)
}

// keyOperations are the operations on one key whose actions have the same name, by the Service Authorization
// Reference.
var keyOperations = map[string]bool{
	"DescribeKey": true, "GetKeyPolicy": true, "PutKeyPolicy": true, "ListKeyPolicies": true, "ListResourceTags": true,
	"TagResource":   true,
	"UntagResource": true, "EnableKey": true, "DisableKey": true, "ScheduleKeyDeletion": true,
	"CancelKeyDeletion": true,
	"Encrypt":           true, "Decrypt": true, "GenerateDataKey": true,
}

// kmsNeeds returns the permission named like the operation, on the key, however the call names it.
func (s *kmsService) needs(ctx context.Context, x *exchange) ([]need, error) {
	action := "kms:" + x.call.Operation
	switch x.call.Operation {
	case "CreateKey", "ListKeys", "ListAliases":
		return plainNeed(action, "*"), nil
	case "CreateAlias", "DeleteAlias":
		alias, _ := x.json["AliasName"].(string)
		return plainNeed(action, x.resourceARN("kms", alias)), nil
	}
	if !keyOperations[x.call.Operation] {
		return nil, unknownOperation(x)
	}
	key, _ := x.json["KeyId"].(string)
	id := arnOf{partition: partition(x.call.Region), service: "kms", region: x.call.Region, account: x.account()}
	arn, _, err := keyOf(ctx, s.upstream, id, key)
	if arn == "" { // moto reports this to callers that may access any key
		arn = x.resourceARN("kms", "key/"+key)
	}
	n := need{action: action, resource: arn, facts: facts{}.with("kms:CallerAccount", x.call.Account)}
	return []need{n}, err
}

// keyOf returns the ARN of the key that name identifies (an ID, an alias or the ARN of either), and whether services
// can use it. They cannot use a disabled key, nor one that AWS manages, because nobody can change its policy. The ARN
// is empty if there is no such key.
func keyOf(ctx context.Context, u *upstream, at arnOf, name string) (arn string, usable bool, err error) {
	var answer struct {
		KeyMetadata struct{ Arn, KeyManager, KeyState string }
	}
	_, err = u.askAbout(ctx, at, "TrentService.DescribeKey", map[string]any{"KeyId": name}, &answer)
	meta := answer.KeyMetadata
	return meta.Arn, meta.KeyManager != "AWS" && meta.KeyState == "Enabled", err
}
