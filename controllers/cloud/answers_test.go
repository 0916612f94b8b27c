package cloud

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// A server that fills its answer, be it a success or an error, is not read to its end, nor asked again.
func TestAnAnswerThatIsTooLargeIsNotRead(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		asked, sent := 0, 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"Attributes":{"Policy":"`)
			for chunk := strings.Repeat("x", 1<<20); sent < 200; sent++ {
				if _, err := io.WriteString(w, chunk); err != nil {
					return
				}
			}
		}))
		t.Cleanup(server.Close)
		client := sqs.NewFromConfig(aws.Config{Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""), APIOptions: apiOptions()})
		_, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &server.URL})
		if err == nil || asked != 1 || sent > 100 {
			t.Errorf("%d: asked %d times, sent %d MiB, %v", status, asked, sent, err)
		}
		if status == http.StatusOK && !strings.Contains(err.Error(), "the answer to GetQueueAttributes has more than 16 MiB") {
			t.Error(err)
		}
	}
}
