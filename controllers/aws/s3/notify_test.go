package s3

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// S3 tests every queue and topic when notifications are set. If one refuses the bucket, the spec is not wrong.
func TestAReceiverThatRefusesIsWaitedFor(t *testing.T) {
	const untried = "Unable to validate the following destination configurations"
	v := notified{Own: []notification{{ARN: "arn:aws:sqs:eu-west-1:111122223333:inbox"}}}
	v.others.TopicConfigurations = []s3types.TopicConfiguration{
		{TopicArn: aws.String("arn:aws:sns:eu-west-1:111122223333:theirs")},
	}
	err := notTaken(v, &smithy.GenericAPIError{Code: "InvalidArgument", Message: untried})
	wait, ok := engine.AsWait(err)
	if !ok || wait.Stalled || wait.Reason != v1alpha1.ReasonNotLetIn {
		t.Fatalf("error = %v, want %s, not stalled", err, v1alpha1.ReasonNotLetIn)
	}
	if !strings.Contains(err.Error(), ":inbox") || !strings.Contains(err.Error(), ":theirs") {
		t.Errorf("error = %v, want :inbox and :theirs in it", err)
	}
	for _, other := range []error{
		&smithy.GenericAPIError{Code: "InvalidArgument", Message: "Configuration is ambiguously defined"},
		&smithy.GenericAPIError{Code: "AccessDenied", Message: untried}, errors.New(untried),
	} {
		if err := notTaken(v, other); err != nil {
			t.Errorf("%v is waited for: %v", other, err)
		}
	}
}
