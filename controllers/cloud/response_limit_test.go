package cloud

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// A server that returns an endless response, success or error, is not read to the end, and the call is not retried. The
// request has no body: with one, the SDK closes it when the response begins, and Go's client may then close the
// connection, which is retried.
func TestAnAnswerThatIsTooLargeIsNotRead(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		asked, sent := 0, 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"Version":"2012-10-17","Id":"`)
			for chunk := strings.Repeat("x", 1<<20); sent < 200; sent++ {
				if _, err := io.WriteString(w, chunk); err != nil {
					return
				}
			}
		}))
		t.Cleanup(server.Close)
		client := s3.NewFromConfig(aws.Config{
			Region: "eu-west-1", BaseEndpoint: &server.URL, APIOptions: apiOptions(),
			Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		}, func(o *s3.Options) { o.UsePathStyle = true })
		_, err := client.GetBucketPolicy(t.Context(), &s3.GetBucketPolicyInput{Bucket: aws.String("bucket")})
		if err == nil || asked != 1 || sent > 100 {
			t.Errorf("%d: asked %d times, sent %d MiB, %v", status, asked, sent, err)
		}
		if status == http.StatusOK && !strings.Contains(err.Error(),
			"the answer to GetBucketPolicy has more than 16 MiB") {
			t.Error(err)
		}
	}
}
