package awsproxy

import (
	"cmp"
	"net/http"
	"sync"
)

// S3Server describes how the server of one bucket differs from AWS in most regions.
type S3Server struct {
	// RefuseTags is the code with which CreateBucket refuses tags:
	// UnsupportedArgument in some regions, MalformedXML by other makers' servers.
	RefuseTags string
	// IgnoreTags makes CreateBucket accept tags and not store them.
	IgnoreTags bool
	// Owner is the owner that the server reports instead of the caller's account: a call that expects another one is
	// denied.
	Owner string
	// Lacks is an operation that the server does not know.
	Lacks string
	// Unencrypted buckets have no encryption unless a client sets it.
	Unencrypted bool
}

// ServeBucket makes the server of the bucket, which need not exist yet, differ
// from AWS until end is called.
func (s *s3Service) ServeBucket(bucket string, as S3Server) (end func()) {
	s.servers.set(bucket, &as)
	return func() { s.servers.set(bucket, nil) }
}

// s3Servers are the servers that differ, by bucket.
type s3Servers struct {
	mu  sync.Mutex
	all map[string]S3Server
}

func (s *s3Servers) set(bucket string, as *S3Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if as == nil {
		delete(s.all, bucket)
		return
	}
	s.all[bucket] = *as
}

func (s *s3Servers) of(bucket string) S3Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[bucket]
}

// atCreation returns the tags that the server stores for a new bucket, or its refusal.
func (s S3Server) atCreation(x *exchange, tags []tag) ([]tag, *reply) {
	switch {
	case len(tags) > 0 && s.RefuseTags != "":
		return nil, x.fail(http.StatusBadRequest, s.RefuseTags, "Tags are not supported when a bucket is created.")
	case s.IgnoreTags:
		return nil, nil
	}
	return tags, nil
}

// check refuses an operation that the server does not know.
func (s S3Server) check(x *exchange) *reply {
	if s.Lacks == "" || s.Lacks != x.call.Operation {
		return nil
	}
	return x.fail(http.StatusNotImplemented, "NotImplemented", "A header you provided implies functionality that is "+
		"not implemented")
}

// denies reports whether the call has no access to a bucket of the owner: it is another account's, or the caller
// expects another owner.
func (s S3Server) denies(x *exchange, owner string) bool {
	expected := x.in.Header.Get("X-Amz-Expected-Bucket-Owner")
	return owner != x.call.Account && !x.admitted || (expected != "" && expected != cmp.Or(s.Owner, owner))
}
