// Package s3 is Amazon S3, and S3 Control for the tags of buckets.
package s3

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/portico-platform/portico/test/awsproxy/lag"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Service makes moto's S3 restrict buckets to their owners and regions, gives new ones AWS's secure defaults, and
// completes CreateBucket and ListBuckets.
type Service struct {
	upstream *wire.Upstream
	post     wire.Deliveries
	servers  *servers
	lag      *lag.Lag
	accounts func() []string // that are known
	decide   permit.Decider  // about permissions that S3 checks while it serves a call
	policyOf permit.PolicyFinder
	locks    wire.Locks // by bucket: creation and deletion exclude all other calls

	mu      sync.Mutex
	buckets map[string]bucketFacts // those seen so far, by name
	byTags  map[string]bool        // whether attribute-based access control is on, by name
}

// bucketFacts never change while a bucket exists.
type bucketFacts struct{ owner, region string }

// New returns S3; accounts returns the known accounts.
func New(
	up *wire.Upstream, lag *lag.Lag, accounts func() []string, post wire.Deliveries, decide permit.Decider,
	policyOf permit.PolicyFinder,
) *Service {
	return &Service{
		upstream: up, servers: &servers{all: map[string]Server{}}, lag: lag, accounts: accounts, post: post,
		decide: decide, policyOf: policyOf,
		buckets: map[string]bucketFacts{}, byTags: map[string]bool{},
	}
}

// Around serves the calls to S3.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	if refused := refuse(x); refused != nil {
		return refused, nil
	}
	switch x.Call.Operation {
	case "ListBuckets":
		return s.list(ctx, x, next)
	case "DeleteObjects":
		all := next
		next = func(ctx context.Context) (*wire.Reply, error) { return s.deleteAllowed(ctx, x, all) }
	case "GetObject", "HeadObject":
		object := next
		next = func(ctx context.Context) (*wire.Reply, error) { return s.hideMissing(ctx, x, object) }
	}
	return s.serve(ctx, x, next)
}

// serve passes on a call about a bucket.
func (s *Service) serve(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	exclusive := x.Call.Operation == "CreateBucket" || x.Call.Operation == "DeleteBucket"
	unlock := s.locks.Lock(x.Bucket, exclusive)
	if x.Call.Operation == "CreateBucket" {
		defer unlock()
		return s.create(ctx, x, next)
	}
	if s.young(x, x.Bucket) {
		unlock()
		return x.Fail(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"), nil
	}
	refusal, err := s.refuseElsewhere(ctx, x)
	if refusal == nil && err == nil {
		refusal, err = s.locked(ctx, x)
	}
	if refusal == nil && err == nil {
		refusal, err = s.abac(ctx, x)
	}
	if refusal == nil && err == nil {
		refusal, err = s.sending(ctx, x)
	}
	if x.Streamed { // a slow object must not block the bucket
		unlock()
	} else {
		defer unlock()
	}
	if refusal != nil || err != nil {
		return refusal, err
	}
	r, err := next(ctx)
	if err != nil {
		return nil, err
	}
	return s.complete(x, r), nil
}

// sending serves the calls about the bucket's policy and notifications, up to the part that moto does, and prepares
// the notifications of other calls.
func (s *Service) sending(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	switch x.Call.Operation {
	case "PutBucketPolicy":
		return s.putPolicy(ctx, x)
	case "GetBucketPolicyStatus":
		return s.policyStatus(ctx, x)
	case "PutBucketNotificationConfiguration":
		return s.putNotifications(ctx, x)
	}
	return nil, s.notify(ctx, x)
}

// complete makes the changes that follow moto's response, and returns S3's response.
func (s *Service) complete(x *wire.Exchange, r *wire.Reply) *wire.Reply {
	switch {
	case x.Call.Operation == "DeleteBucket" && r.Status < 300:
		s.remember(x.Bucket, bucketFacts{})
		s.lag.End(bucketOf(x.Bucket))
	case x.Call.Operation == "ListObjects", x.Call.Operation == "ListObjectsV2",
		x.Call.Operation == "ListObjectVersions":
		return listing(x, r)
	case x.Call.Operation == "GetBucketEncryption" &&
		wire.ErrorCode(r) == "ServerSideEncryptionConfigurationNotFoundError" && !s.servers.of(x.Bucket).Unencrypted:
		// S3 always encrypts, also after DeleteBucketEncryption.
		return wire.XMLReply(http.StatusOK, `<ServerSideEncryptionConfiguration xmlns="`+namespace+`">`+
			`<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault>`+
			`<BucketKeyEnabled>false</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>`)
	}
	return r
}

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// refuseElsewhere refuses a bucket that is in another region than the call's, or belongs to another account than the
// caller's, or than the caller expects; moto ignores all three. Moto reports a missing bucket.
func (s *Service) refuseElsewhere(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	facts, err := s.facts(ctx, x)
	if err != nil || facts.owner == "" {
		return nil, err
	}
	if facts.region != x.Call.Region && x.Call.Operation != "GetBucketLocation" {
		r := x.Fail(http.StatusMovedPermanently, "PermanentRedirect",
			"The bucket you are attempting to access must be addressed using the specified endpoint. Please send all "+
				"future requests to this endpoint.")
		r.Header.Set("X-Amz-Bucket-Region", facts.region)
		return r, nil
	}
	server := s.servers.of(x.Bucket)
	if server.denies(x, facts.owner) {
		return x.Fail(http.StatusForbidden, "AccessDenied", "Access Denied"), nil
	}
	return server.check(x), nil
}

// foreign is the owner of a bucket whose account is not known.
const foreign = "foreign"

// facts returns the zero value for a bucket that does not exist. It asks the simulator only about buckets that it has
// not seen, such as those from before a restart of the proxy.
func (s *Service) facts(ctx context.Context, x *wire.Exchange) (bucketFacts, error) {
	s.mu.Lock()
	known, ok := s.buckets[x.Bucket]
	s.mu.Unlock()
	if ok {
		return known, nil
	}
	region, err := s.region(ctx, x)
	if err != nil || region == "" {
		return bucketFacts{}, err
	}
	owner, err := s.BucketOwner(ctx, x, x.Bucket)
	return bucketFacts{owner: owner, region: region}, err
}

// region returns the region of the bucket; "" means that it does not exist.
func (s *Service) region(ctx context.Context, x *wire.Exchange) (string, error) {
	return s.regionOf(ctx, x.Call.Account, x.Bucket)
}

func (s *Service) regionOf(ctx context.Context, account, bucket string) (string, error) {
	r, err := s.upstream.Ask(ctx, wire.Question{
		Service: "s3", Region: "us-east-1", Account: account,
		Method: http.MethodHead, Path: "/" + bucket,
	})
	if err != nil || r.Status == http.StatusNotFound {
		return "", err
	}
	if region := r.Header.Get("X-Amz-Bucket-Region"); region != "" {
		return region, nil
	}
	return "", fmt.Errorf("the simulator answered %d about bucket %s", r.Status, bucket)
}

// remember stores the facts; the zero value deletes them.
func (s *Service) remember(bucket string, facts bucketFacts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if facts.owner == "" {
		delete(s.buckets, bucket)
		delete(s.byTags, bucket)
		return
	}
	s.buckets[bucket] = facts
}

// ask makes a call on the proxy's own behalf, as the client's account.
func (s *Service) ask(ctx context.Context, x *wire.Exchange, method, path, query, body string) (*wire.Reply, error) {
	return s.upstream.Ask(ctx, wire.Question{
		Service: "s3", Region: x.Call.Region, Account: x.Call.Account,
		Method: method, Path: path, Query: query, Body: body,
	})
}

// BucketOwner returns the account that has the bucket; "" if there is none.
func (s *Service) BucketOwner(ctx context.Context, x *wire.Exchange, bucket string) (string, error) {
	s.mu.Lock()
	known, ok := s.buckets[bucket]
	s.mu.Unlock()
	if ok {
		return known.owner, nil
	}
	region, err := s.regionOf(ctx, x.Call.Account, bucket)
	if err != nil || region == "" {
		return "", err
	}
	for _, account := range append([]string{x.Call.Account}, s.accounts()...) {
		r, err := s.upstream.Ask(ctx, wire.Question{
			Service: "s3", Region: region, Account: account, Method: http.MethodGet,
			Path: "/",
		})
		if err != nil {
			return "", err
		}
		list, err := parseBuckets(r)
		if err != nil {
			return "", err
		}
		for _, b := range list.Buckets {
			if b.Name == bucket {
				s.remember(bucket, bucketFacts{owner: account, region: region})
				return account, nil
			}
		}
	}
	return foreign, nil
}
