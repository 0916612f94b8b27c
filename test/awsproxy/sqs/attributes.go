package sqs

import (
	"context"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Attributes returns all attributes of a queue; none if it does not exist.
func Attributes(ctx context.Context, u *wire.Upstream, id wire.ARN) (map[string]string, error) {
	var answer struct{ Attributes map[string]string }
	_, err := u.AskAbout(ctx, id, "AmazonSQS.GetQueueAttributes", map[string]any{
		"QueueUrl": "http://sqs/" + id.Account + "/" + id.Resource, "AttributeNames": []string{"All"},
	}, &answer)
	return answer.Attributes, err
}
