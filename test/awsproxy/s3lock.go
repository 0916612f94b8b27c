package awsproxy

import (
	"bytes"
	"context"
	"net/http"
)

// locked refuses to suspend the versioning of a bucket with Object Lock; moto would suspend it.
func (s *s3Service) locked(ctx context.Context, x *exchange) (*reply, error) {
	if x.call.Operation != "PutBucketVersioning" || !bytes.Contains(x.body, []byte("<Status>Suspended</Status>")) {
		return nil, nil
	}
	r, err := s.ask(ctx, x, http.MethodGet, "/"+x.bucket, "object-lock", "")
	if err != nil || !bytes.Contains(r.body, []byte("<ObjectLockEnabled>Enabled</ObjectLockEnabled>")) {
		return nil, err
	}
	return x.fail(http.StatusConflict, "InvalidBucketState",
		"An Object Lock configuration is present on this bucket, so the versioning state cannot be changed."), nil
}
