package s3

import (
	"cmp"
	"net/http"
	"sync"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Server describes how the server of one bucket differs from AWS in most regions.
type Server struct {
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
func (s *Service) ServeBucket(bucket string, as Server) (end func()) {
	s.servers.set(bucket, &as)
	return func() { s.servers.set(bucket, nil) }
}

// servers are the servers that differ, by bucket.
type servers struct {
	mu  sync.Mutex
	all map[string]Server
}

func (s *servers) set(bucket string, as *Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if as == nil {
		delete(s.all, bucket)
		return
	}
	s.all[bucket] = *as
}

func (s *servers) of(bucket string) Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[bucket]
}

// atCreation returns the tags that the server stores for a new bucket, or its refusal.
func (s Server) atCreation(x *wire.Exchange, tags []wire.Tag) ([]wire.Tag, *wire.Reply) {
	switch {
	case len(tags) > 0 && s.RefuseTags != "":
		return nil, x.Fail(http.StatusBadRequest, s.RefuseTags, "Tags are not supported when a bucket is created.")
	case s.IgnoreTags:
		return nil, nil
	}
	return tags, nil
}

// check refuses an operation that the server does not know.
func (s Server) check(x *wire.Exchange) *wire.Reply {
	if s.Lacks == "" || s.Lacks != x.Call.Operation {
		return nil
	}
	return x.Fail(http.StatusNotImplemented, "NotImplemented", "A header you provided implies functionality that is "+
		"not implemented")
}

// denies reports whether the call has no access to a bucket of the owner: it is another account's, or the caller
// expects another owner.
func (s Server) denies(x *wire.Exchange, owner string) bool {
	expected := x.In.Header.Get("X-Amz-Expected-Bucket-Owner")
	return owner != x.Call.Account && !x.Admitted || (expected != "" && expected != cmp.Or(s.Owner, owner))
}
