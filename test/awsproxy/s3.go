package awsproxy

import (
	"context"
	"net/http"
	"sync"
)

// s3Service makes moto's S3 keep buckets to their owners and give new ones
// AWS's secure defaults, and completes CreateBucket and ListBuckets.
type s3Service struct {
	upstream *upstream
	locks    locks // by bucket: creation and deletion exclude all else

	mu     sync.Mutex
	owners map[string]string // of buckets seen, by name
}

func newS3(up *upstream) *s3Service {
	return &s3Service{upstream: up, owners: map[string]string{}}
}

func (s *s3Service) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	if x.call.Operation == "ListBuckets" {
		return s.list(ctx, x, next)
	}
	exclusive := x.call.Operation == "CreateBucket" || x.call.Operation == "DeleteBucket"
	if !x.streamed { // a slow object must not hold up the bucket
		defer s.locks.lock(x.bucket, exclusive)()
	}
	if x.call.Operation == "CreateBucket" {
		return s.create(ctx, x, next)
	}
	if refusal, err := s.guard(ctx, x); refusal != nil || err != nil {
		return refusal, err
	}
	r, err := next(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case x.call.Operation == "DeleteBucket" && r.status < 300:
		s.setOwner(x.bucket, "")
	case x.call.Operation == "GetBucketEncryption" && errorCode(x, r) == "ServerSideEncryptionConfigurationNotFoundError":
		return xmlReply(http.StatusOK, `<ServerSideEncryptionConfiguration xmlns="`+s3Namespace+`">`+
			`<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault>`+
			`<BucketKeyEnabled>false</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>`), nil
	}
	return r, nil
}

const s3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// guard refuses a bucket that is another account's than the caller's, or than
// the caller expects; moto ignores both. A missing bucket is left to moto.
func (s *s3Service) guard(ctx context.Context, x *exchange) (*reply, error) {
	owner, err := s.owner(ctx, x, x.bucket)
	if err != nil || owner == "" {
		return nil, err
	}
	expected := x.in.Header.Get("X-Amz-Expected-Bucket-Owner")
	if owner != x.call.Account || (expected != "" && expected != owner) {
		return x.fail(http.StatusForbidden, "AccessDenied", "Access Denied"), nil
	}
	return nil, nil
}

// foreign stands for an owner of whom no more is known.
const foreign = "foreign"

// owner returns "" for a bucket that does not exist. It asks the simulator only
// for buckets not seen before, such as those that outlived a former proxy.
func (s *s3Service) owner(ctx context.Context, x *exchange, bucket string) (string, error) {
	s.mu.Lock()
	owner := s.owners[bucket]
	s.mu.Unlock()
	if owner != "" {
		return owner, nil
	}
	r, err := s.ask(ctx, x, http.MethodHead, "/"+bucket, "", "")
	if err != nil || r.status == http.StatusNotFound {
		return "", err
	}
	list, err := s.buckets(ctx, x)
	if err != nil {
		return "", err
	}
	for _, b := range list.Buckets {
		if b.Name == bucket {
			s.setOwner(bucket, x.call.Account)
			return x.call.Account, nil
		}
	}
	return foreign, nil
}

// setOwner remembers the owner; "" forgets.
func (s *s3Service) setOwner(bucket, account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if account == "" {
		delete(s.owners, bucket)
		return
	}
	s.owners[bucket] = account
}

// ask makes a call of the proxy's own, as the client's account.
func (s *s3Service) ask(ctx context.Context, x *exchange, method, path, query, body string) (*reply, error) {
	return s.upstream.ask(ctx, question{
		service: "s3", region: x.call.Region, account: x.call.Account,
		method: method, path: path, query: query, body: body,
	})
}
