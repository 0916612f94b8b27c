package awsproxy

import (
	"context"
	"fmt"
	"net/http"
	"sync"
)

// s3Service makes moto's S3 restrict buckets to their owners and regions, gives new ones AWS's secure defaults, and
// completes CreateBucket and ListBuckets.
type s3Service struct {
	upstream *upstream
	post     deliveries
	servers  *s3Servers
	lag      *lag
	accounts func() []string // that are known
	decide   decider         // about permissions that S3 checks while it serves a call
	policyOf policyFinder
	locks    locks // by bucket: creation and deletion exclude all other calls

	mu      sync.Mutex
	buckets map[string]bucketFacts // those seen so far, by name
	byTags  map[string]bool        // whether attribute-based access control is on, by name
}

// bucketFacts never change while a bucket exists.
type bucketFacts struct{ owner, region string }

func newS3(up *upstream, lag *lag, accounts func() []string, post deliveries, decide decider, policyOf policyFinder) *s3Service {
	return &s3Service{
		upstream: up, servers: &s3Servers{all: map[string]S3Server{}}, lag: lag, accounts: accounts, post: post,
		decide: decide, policyOf: policyOf,
		buckets: map[string]bucketFacts{}, byTags: map[string]bool{},
	}
}

func (s *s3Service) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	if refused := refuseS3(x); refused != nil {
		return refused, nil
	}
	switch x.call.Operation {
	case "ListBuckets":
		return s.list(ctx, x, next)
	case "DeleteObjects":
		all := next
		next = func(ctx context.Context) (*reply, error) { return s.deleteAllowed(ctx, x, all) }
	case "GetObject", "HeadObject":
		object := next
		next = func(ctx context.Context) (*reply, error) { return s.hideMissing(ctx, x, object) }
	}
	return s.serve(ctx, x, next)
}

// serve passes on a call about a bucket.
func (s *s3Service) serve(ctx context.Context, x *exchange, next forward) (*reply, error) {
	exclusive := x.call.Operation == "CreateBucket" || x.call.Operation == "DeleteBucket"
	unlock := s.locks.lock(x.bucket, exclusive)
	if x.call.Operation == "CreateBucket" {
		defer unlock()
		return s.create(ctx, x, next)
	}
	if s.young(x, x.bucket) {
		unlock()
		return x.fail(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"), nil
	}
	refusal, err := s.guard(ctx, x)
	if refusal == nil && err == nil {
		refusal, err = s.locked(ctx, x)
	}
	if refusal == nil && err == nil {
		refusal, err = s.abac(ctx, x)
	}
	if refusal == nil && err == nil {
		refusal, err = s.sending(ctx, x)
	}
	if x.streamed { // a slow object must not block the bucket
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
func (s *s3Service) sending(ctx context.Context, x *exchange) (*reply, error) {
	switch x.call.Operation {
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
func (s *s3Service) complete(x *exchange, r *reply) *reply {
	switch {
	case x.call.Operation == "DeleteBucket" && r.status < 300:
		s.remember(x.bucket, bucketFacts{})
		s.lag.end(bucketOf(x.bucket))
	case x.call.Operation == "ListObjects", x.call.Operation == "ListObjectsV2",
		x.call.Operation == "ListObjectVersions":
		return listing(x, r)
	case x.call.Operation == "GetBucketEncryption" &&
		errorCode(r) == "ServerSideEncryptionConfigurationNotFoundError" && !s.servers.of(x.bucket).Unencrypted:
		// S3 always encrypts, also after DeleteBucketEncryption.
		return xmlReply(http.StatusOK, `<ServerSideEncryptionConfiguration xmlns="`+s3Namespace+`">`+
			`<Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault>`+
			`<BucketKeyEnabled>false</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>`)
	}
	return r
}

const s3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// guard refuses a bucket that is in another region than the call's, or belongs to another account than the caller's,
// or than the caller expects; moto ignores all three. Moto reports a missing bucket.
func (s *s3Service) guard(ctx context.Context, x *exchange) (*reply, error) {
	facts, err := s.facts(ctx, x)
	if err != nil || facts.owner == "" {
		return nil, err
	}
	if facts.region != x.call.Region && x.call.Operation != "GetBucketLocation" {
		r := x.fail(http.StatusMovedPermanently, "PermanentRedirect",
			"The bucket you are attempting to access must be addressed using the specified endpoint. Please send all "+
				"future requests to this endpoint.")
		r.header.Set("X-Amz-Bucket-Region", facts.region)
		return r, nil
	}
	server := s.servers.of(x.bucket)
	if server.denies(x, facts.owner) {
		return x.fail(http.StatusForbidden, "AccessDenied", "Access Denied"), nil
	}
	return server.check(x), nil
}

// foreign is the owner of a bucket whose account is not known.
const foreign = "foreign"

// facts returns the zero value for a bucket that does not exist. It asks the simulator only about buckets that it has
// not seen, such as those from before a restart of the proxy.
func (s *s3Service) facts(ctx context.Context, x *exchange) (bucketFacts, error) {
	s.mu.Lock()
	known, ok := s.buckets[x.bucket]
	s.mu.Unlock()
	if ok {
		return known, nil
	}
	region, err := s.region(ctx, x)
	if err != nil || region == "" {
		return bucketFacts{}, err
	}
	owner, err := s.bucketOwner(ctx, x, x.bucket)
	return bucketFacts{owner: owner, region: region}, err
}

// region returns the region of the bucket; "" means that it does not exist.
func (s *s3Service) region(ctx context.Context, x *exchange) (string, error) {
	return s.regionOf(ctx, x.call.Account, x.bucket)
}

func (s *s3Service) regionOf(ctx context.Context, account, bucket string) (string, error) {
	r, err := s.upstream.ask(ctx, question{
		service: "s3", region: "us-east-1", account: account,
		method: http.MethodHead, path: "/" + bucket,
	})
	if err != nil || r.status == http.StatusNotFound {
		return "", err
	}
	if region := r.header.Get("X-Amz-Bucket-Region"); region != "" {
		return region, nil
	}
	return "", fmt.Errorf("the simulator answered %d about bucket %s", r.status, bucket)
}

// remember stores the facts; the zero value deletes them.
func (s *s3Service) remember(bucket string, facts bucketFacts) {
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
func (s *s3Service) ask(ctx context.Context, x *exchange, method, path, query, body string) (*reply, error) {
	return s.upstream.ask(ctx, question{
		service: "s3", region: x.call.Region, account: x.call.Account,
		method: method, path: path, query: query, body: body,
	})
}

// bucketOwner returns the account that has the bucket; "" if there is none.
func (s *s3Service) bucketOwner(ctx context.Context, x *exchange, bucket string) (string, error) {
	s.mu.Lock()
	known, ok := s.buckets[bucket]
	s.mu.Unlock()
	if ok {
		return known.owner, nil
	}
	region, err := s.regionOf(ctx, x.call.Account, bucket)
	if err != nil || region == "" {
		return "", err
	}
	for _, account := range append([]string{x.call.Account}, s.accounts()...) {
		r, err := s.upstream.ask(ctx, question{
			service: "s3", region: region, account: account, method: http.MethodGet,
			path: "/",
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
