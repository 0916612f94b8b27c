package cloud

import (
	"context"
	"fmt"
	"io"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// mostAnswered is the maximum size of a response in bytes: several times the largest page that is requested. A response
// may contain a team's data, such as tags, policies and object keys, and the endpoint may not be AWS.
const mostAnswered = 16 << 20

type tooLargeError struct{ operation string }

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("the answer to %s has more than %d MiB, and is not read: look at what fills it in the "+
		"account, or at the endpoint", e.operation, mostAnswered>>20)
}

// RetryableError implements the SDK's interface for errors that must not be retried: the response would be the same.
func (*tooLargeError) RetryableError() bool { return false }

// boundAnswers limits the size of response bodies.
func boundAnswers(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("BoundAnswers", func(
		ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
	) (middleware.DeserializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleDeserialize(ctx, in)
		if response, ok := out.RawResponse.(*smithyhttp.Response); ok && response != nil && response.Response != nil &&
			response.Body != nil {
			response.Body = &boundedBody{response.Body, mostAnswered, &tooLargeError{middleware.GetOperationName(ctx)}}
		}
		return out, metadata, err
	}), middleware.After)
}

type boundedBody struct {
	io.ReadCloser
	left int64
	over error
}

// Read implements io.Reader.
func (b *boundedBody) Read(into []byte) (int, error) {
	if b.left < 0 {
		return 0, b.over
	}
	n, err := b.ReadCloser.Read(into)
	if b.left -= int64(n); b.left < 0 {
		return 0, b.over
	}
	return n, err
}
