package s3

import (
	"bytes"
	"context"
	"net/http"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// locked refuses to suspend the versioning of a bucket with Object Lock; moto would suspend it.
func (s *Service) locked(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	if x.Call.Operation != "PutBucketVersioning" || !bytes.Contains(x.Body, []byte("<Status>Suspended</Status>")) {
		return nil, nil
	}
	r, err := s.ask(ctx, x, http.MethodGet, "/"+x.Bucket, "object-lock", "")
	if err != nil || !bytes.Contains(r.Body, []byte("<ObjectLockEnabled>Enabled</ObjectLockEnabled>")) {
		return nil, err
	}
	return x.Fail(http.StatusConflict, "InvalidBucketState",
		"An Object Lock configuration is present on this bucket, so the versioning state cannot be changed."), nil
}
