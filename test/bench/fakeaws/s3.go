package fakeaws

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	s3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
	xmlKind     = "application/xml"
	noRegion    = "us-east-1" // region of buckets whose creation names no region
	mostBuckets = 10_000      // buckets in a page of ListBuckets
	mostTags    = 50
)

type bucket struct {
	region  string
	created time.Time
	tags    map[string]string
	policy  string // "" means none
}

// s3Service holds buckets, which hold no objects.
type s3Service struct {
	mu      sync.RWMutex
	buckets map[string]*bucket
}

// s3Operations are the operations by method and subresource.
var s3Operations = map[string]string{
	"PUT ": "CreateBucket", "DELETE ": "DeleteBucket", "HEAD ": "HeadBucket",
	"GET tagging": "GetBucketTagging", "PUT tagging": "PutBucketTagging", "DELETE tagging": "DeleteBucketTagging",
	"GET policy": "GetBucketPolicy", "PUT policy": "PutBucketPolicy", "DELETE policy": "DeleteBucketPolicy",
	"GET publicAccessBlock": "GetPublicAccessBlock",
}

func (s *s3Service) route(x *request) {
	query := x.URL.Query()
	name, key, _ := strings.Cut(strings.TrimPrefix(x.URL.Path, "/"), "/")
	x.resource = name
	part := subresource(query)
	x.operation = s3Operations[x.Method+" "+part]
	switch {
	case name == "" && x.Method == http.MethodGet:
		x.operation, x.do = "ListBuckets", func() answer { return s.list(query) }
	case x.operation == "" || key != "":
		x.operation = cmp.Or(x.Method+" "+part, x.Method)
		x.do = func() answer {
			return s3Error(http.StatusNotImplemented, "NotImplemented", "A header you provided implies functionality "+
				"that is not implemented")
		}
	case x.operation == "CreateBucket":
		x.do = func() answer { return s.create(x) }
	default:
		x.do = func() answer { return s.existing(x) }
	}
}

// subresource returns the query parameter that selects the operation, or "". It ignores x-id, which the SDK adds.
func subresource(query url.Values) string {
	for name := range query {
		if name != "x-id" {
			return name
		}
	}
	return ""
}

// existing answers requests for a bucket that must exist, belong to the caller, and be in the request's region.
func (s *s3Service) existing(x *request) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[x.resource]
	owner := x.Header.Get("X-Amz-Expected-Bucket-Owner")
	switch {
	case b == nil:
		return s3Error(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
	case owner != "" && owner != AccountID:
		return s3Error(http.StatusForbidden, "AccessDenied", "Access Denied")
	case b.region != x.region:
		return s3Error(http.StatusMovedPermanently, "PermanentRedirect", "The bucket you are attempting to access "+
			"must be addressed using the specified endpoint")
	}
	switch x.operation {
	case "GetBucketTagging":
		return b.tagging()
	case "GetPublicAccessBlock":
		return xmlAnswer(http.StatusOK, publicAccessBlock{
			Namespace: s3Namespace, BlockACLs: true, IgnoreACLs: true,
			BlockPolicy: true, Restrict: true,
		})
	case "PutBucketTagging":
		return b.putTagging(x.body)
	case "DeleteBucketTagging":
		b.tags = nil
		return answer{status: http.StatusNoContent}
	case "GetBucketPolicy":
		return b.getPolicy()
	case "PutBucketPolicy":
		return b.putPolicy(x.body)
	case "DeleteBucketPolicy":
		b.policy = ""
		return answer{status: http.StatusNoContent}
	case "DeleteBucket":
		delete(s.buckets, x.resource)
		return answer{status: http.StatusNoContent}
	default:
		return answer{status: http.StatusOK, header: map[string]string{"X-Amz-Bucket-Region": b.region}}
	}
}

// publicAccessBlock is the default of every new bucket; no request changes it here.
type publicAccessBlock struct {
	XMLName     xml.Name `xml:"PublicAccessBlockConfiguration"`
	Namespace   string   `xml:"xmlns,attr,omitempty"`
	BlockACLs   bool     `xml:"BlockPublicAcls"`
	IgnoreACLs  bool     `xml:"IgnorePublicAcls"`
	BlockPolicy bool     `xml:"BlockPublicPolicy"`
	Restrict    bool     `xml:"RestrictPublicBuckets"`
}

type tag struct{ Key, Value string }

type tagging struct {
	XMLName   xml.Name `xml:"Tagging"`
	Namespace string   `xml:"xmlns,attr,omitempty"`
	Tags      []tag    `xml:"TagSet>Tag"`
}

func (b *bucket) getPolicy() answer {
	if b.policy == "" {
		return s3Error(http.StatusNotFound, "NoSuchBucketPolicy", "The bucket policy does not exist")
	}
	return answer{status: http.StatusOK, kind: "application/json", body: []byte(b.policy)}
}

func (b *bucket) putPolicy(body []byte) answer {
	if !json.Valid(body) {
		return s3Error(http.StatusBadRequest, "MalformedPolicy", "This policy contains invalid Json")
	}
	b.policy = string(body)
	return answer{status: http.StatusNoContent}
}

func (b *bucket) tagging() answer {
	if len(b.tags) == 0 {
		return s3Error(http.StatusNotFound, "NoSuchTagSet", "The TagSet does not exist")
	}
	t := tagging{Namespace: s3Namespace}
	for _, key := range slices.Sorted(maps.Keys(b.tags)) {
		t.Tags = append(t.Tags, tag{key, b.tags[key]})
	}
	return xmlAnswer(http.StatusOK, t)
}

func (b *bucket) putTagging(body []byte) answer {
	var t tagging
	if xml.Unmarshal(body, &t) != nil {
		return malformed()
	}
	tags, refusal := tagMap(t.Tags)
	if refusal.code != "" {
		return refusal
	}
	b.tags = tags
	return answer{status: http.StatusNoContent}
}

func tagMap(list []tag) (map[string]string, answer) {
	tags := map[string]string{}
	for _, t := range list {
		_, twice := tags[t.Key]
		if twice || t.Key == "" || strings.HasPrefix(t.Key, "aws:") {
			return nil, s3Error(http.StatusBadRequest, "InvalidTag", "The tag provided was not a valid tag")
		}
		tags[t.Key] = t.Value
	}
	if len(tags) > mostTags {
		return nil, s3Error(http.StatusBadRequest, "BadRequest", "Bucket tag count cannot be greater than 50")
	}
	return tags, answer{}
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func (s *s3Service) create(x *request) answer {
	var config struct {
		LocationConstraint string
		Tags               []tag `xml:"Tags>Tag"`
	}
	if len(x.body) > 0 && xml.Unmarshal(x.body, &config) != nil {
		return malformed()
	}
	if !bucketName.MatchString(x.resource) {
		return s3Error(http.StatusBadRequest, "InvalidBucketName", "The specified bucket is not valid.")
	}
	region := cmp.Or(config.LocationConstraint, noRegion)
	if region != x.region {
		return s3Error(http.StatusBadRequest, "IllegalLocationConstraintException",
			"The location constraint is incompatible for the region specific endpoint this request was sent to.")
	}
	tags, refusal := tagMap(config.Tags)
	if refusal.code != "" {
		return refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[x.resource]; b != nil && (b.region != noRegion || region != noRegion) { // no error in us-east-1
		return s3Error(http.StatusConflict, "BucketAlreadyOwnedByYou", "Your previous request to create the named "+
			"bucket succeeded and you already own it.")
	} else if b == nil {
		s.buckets[x.resource] = &bucket{region: region, created: time.Now(), tags: tags}
	}
	return answer{status: http.StatusOK, header: map[string]string{"Location": "/" + x.resource}}
}

type bucketList struct {
	XMLName           xml.Name `xml:"ListAllMyBucketsResult"`
	Namespace         string   `xml:"xmlns,attr"`
	Owner             struct{ ID string }
	Buckets           []listed `xml:"Buckets>Bucket"`
	ContinuationToken string   `xml:",omitempty"`
}

type listed struct{ Name, CreationDate, BucketRegion string }

// list serves ListBuckets, sorted by name. The continuation token is the last name of the previous page.
func (s *s3Service) list(query url.Values) answer {
	size := mostBuckets
	if text := query.Get("max-buckets"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostBuckets {
			return s3Error(http.StatusBadRequest, "InvalidArgument", "Argument max-buckets must be an integer "+
				"between 1 and 10000")
		}
		size = n
	}
	after, err := base64.StdEncoding.DecodeString(query.Get("continuation-token"))
	if err != nil {
		return s3Error(http.StatusBadRequest, "InvalidArgument", "The continuation token provided is incorrect")
	}
	page := bucketList{Namespace: s3Namespace}
	page.Owner.ID = AccountID
	s.mu.RLock()
	defer s.mu.RUnlock()
	region := query.Get("bucket-region")
	for _, name := range slices.Sorted(maps.Keys(s.buckets)) {
		b := s.buckets[name]
		if name <= string(after) || !strings.HasPrefix(name, query.Get("prefix")) ||
			(region != "" && b.region != region) {
			continue
		}
		if len(page.Buckets) == size {
			page.ContinuationToken = base64.StdEncoding.EncodeToString([]byte(page.Buckets[size-1].Name))
			break
		}
		page.Buckets = append(page.Buckets, listed{name, b.created.UTC().Format(time.RFC3339), b.region})
	}
	return xmlAnswer(http.StatusOK, page)
}

func malformed() answer {
	return s3Error(http.StatusBadRequest, "MalformedXML", "The XML you provided was not well-formed or did not "+
		"validate against our published schema")
}

func s3Error(status int, code, message string) answer {
	a := xmlAnswer(status, struct {
		XMLName                          xml.Name `xml:"Error"`
		Code, Message, RequestId, HostId string   //nolint:revive // S3's spelling
	}{Code: code, Message: message})
	a.code = code
	return a
}

func xmlAnswer(status int, value any) answer {
	body, err := xml.Marshal(value)
	if err != nil {
		panic(err) // our own types marshal
	}
	return answer{status: status, kind: xmlKind, body: append([]byte(xml.Header), body...)}
}
