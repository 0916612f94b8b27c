package awsproxy

import (
	"context"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/kms"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/s3"
	"github.com/portico-platform/portico/test/awsproxy/sns"
	"github.com/portico-platform/portico/test/awsproxy/sqs"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// policyOf returns the policy of a resource; nil if it has none, does not exist, or is of a kind without policies.
func (p *Proxy) policyOf(ctx context.Context, arn string) (*iampolicy.ResourcePolicy, error) {
	var text string
	var err error
	switch id := wire.SplitARN(arn); {
	case id.Service == "sqs":
		var attributes map[string]string
		attributes, err = sqs.Attributes(ctx, p.upstream, id)
		text = attributes["Policy"]
	case id.Service == "sns" && !strings.Contains(id.Resource, ":"):
		var attributes map[string]string
		attributes, err = sns.Attributes(ctx, p.upstream, id)
		text = attributes["Policy"]
	case id.Service == "s3" && id.Resource != "*":
		bucket, _, _ := strings.Cut(id.Resource, "/")
		text, err = s3.BucketPolicy(ctx, p.upstream, bucket)
	case id.Service == "kms":
		text, err = kms.KeyPolicy(ctx, p.upstream, id)
	}
	if err != nil || text == "" {
		return nil, err
	}
	return permit.ParseResourcePolicy([]byte(text))
}
