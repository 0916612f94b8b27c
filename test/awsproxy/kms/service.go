// Package kms is AWS KMS: the policies of keys.
package kms

import (
	"context"
	"net/http"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Service refuses key policies that KMS does not accept; moto accepts any. Source: "Key policies in AWS KMS" of
// its guide. Package permit judges which principals may use a key, and package delivery which services may.
type Service struct{ upstream *wire.Upstream }

// New returns KMS.
func New(up *wire.Upstream) *Service { return &Service{upstream: up} }

// Around serves the calls to KMS.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	policy, given := x.JSON["Policy"].(string)
	if x.Call.Operation == "CreateKey" || x.Call.Operation == "PutKeyPolicy" {
		if _, err := permit.ParseResourcePolicy([]byte(policy)); given && err != nil {
			return x.Fail(http.StatusBadRequest, "MalformedPolicyDocumentException", err.Error()), nil
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

// Needs returns the permission named like the operation, on the key, however the call names it.
func (s *Service) Needs(ctx context.Context, x *wire.Exchange) ([]permit.Need, error) {
	action := "kms:" + x.Call.Operation
	switch x.Call.Operation {
	case "CreateKey", "ListKeys", "ListAliases":
		return permit.Plain(action, "*"), nil
	case "CreateAlias", "DeleteAlias":
		alias, _ := x.JSON["AliasName"].(string)
		return permit.Plain(action, x.ResourceARN("kms", alias)), nil
	}
	if !keyOperations[x.Call.Operation] {
		return nil, permit.UnknownOperation(x)
	}
	key, _ := x.JSON["KeyId"].(string)
	id := wire.ARN{
		Partition: wire.Partition(x.Call.Region), Service: "kms", Region: x.Call.Region, Account: x.Account(),
	}
	arn, _, err := KeyOf(ctx, s.upstream, id, key)
	if arn == "" { // moto reports this to callers that may access any key
		arn = x.ResourceARN("kms", "key/"+key)
	}
	n := permit.Need{Action: action, Resource: arn, Facts: permit.Facts{}.With("kms:CallerAccount", x.Call.Account)}
	return []permit.Need{n}, err
}

// KeyOf returns the ARN of the key that name identifies (an ID, an alias or the ARN of either), and whether services
// can use it. They cannot use a disabled key, nor one that AWS manages, because nobody can change its policy. The ARN
// is empty if there is no such key.
func KeyOf(ctx context.Context, u *wire.Upstream, at wire.ARN, name string) (arn string, usable bool, err error) {
	var answer struct {
		KeyMetadata struct{ Arn, KeyManager, KeyState string }
	}
	_, err = u.AskAbout(ctx, at, "TrentService.DescribeKey", map[string]any{"KeyId": name}, &answer)
	meta := answer.KeyMetadata
	return meta.Arn, meta.KeyManager != "AWS" && meta.KeyState == "Enabled", err
}

// KeyPolicy returns the text of a key's policy; "" if there is no such key.
func KeyPolicy(ctx context.Context, u *wire.Upstream, id wire.ARN) (string, error) {
	key := strings.TrimPrefix(id.Resource, "key/")
	var answer struct{ Policy string }
	_, err := u.AskAbout(ctx, id, "TrentService.GetKeyPolicy", map[string]any{"KeyId": key, "PolicyName": "default"},
		&answer)
	if answer.Policy == "{}" { // moto's response if no policy was set
		return "", err
	}
	return answer.Policy, err
}
