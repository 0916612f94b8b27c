package deleted

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/cloud"
)

func TestTheNewestSnapshotIsFirstAndNothingIsTwice(t *testing.T) {
	at := func(hour int) *time.Time { return aws.Time(time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)) }
	got := sorted([]operatorapi.Deleted{
		{Kind: "S3Bucket", Name: "a", ARN: "bucket", Provider: "two"},
		{Kind: "RDSInstance", Name: "b", ARN: "old", Taken: at(1)},
		{Kind: "RDSInstance", Name: "b", ARN: "new", Taken: at(2)},
		{Kind: "S3Bucket", Name: "a", ARN: "bucket", Provider: "one"},
		{Kind: "RDSInstance", Name: "a", ARN: "first"},
	})
	var arns []string
	for _, d := range got {
		arns = append(arns, d.ARN)
	}
	if strings.Join(arns, " ") != "first new old bucket" || got[3].Provider != "one" {
		t.Errorf("%+v", got)
	}
}

// A server that is not AWS and has no tagging API is reported, and not shown as an empty account.
func TestAServerWithoutTagsIsNoEmptyAccount(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	s := &cloud.Session{
		Config:   aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), RetryMaxAttempts: 1},
		Services: cloud.Services{Own: map[string]string{tagging.ServiceID: server.URL}},
	}
	l := &Lists{Kinds: map[string]Kind{"S3Bucket": {Types: []string{"s3"}}}}
	found, err := l.read(context.Background(), s, "payments")
	if err == nil || len(found) > 0 || err.Error() != errNoTagging.Error() {
		t.Errorf("%v, %v", found, err)
	}
}
