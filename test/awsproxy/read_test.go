package awsproxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// understood returns the journal's record of a request.
func understood(t *testing.T, service, method, target, body string, header ...string) Call {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if service != "" {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=KEY/20260101/eu-west-1/"+service+
			"/aws4_request, SignedHeaders=host, Signature=0")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	up := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:1", nil).URL
	p, err := New(Options{Upstream: up, S3Hosts: []string{"aws.test"}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := p.read(r, Operator)
	if err != nil {
		t.Fatal(err)
	}
	return x.Call
}

func TestS3Operations(t *testing.T) {
	for target, want := range map[string]string{
		"GET /":                             "ListBuckets  r",
		"GET /?continuation-token=x":        "ListBuckets  r+",
		"HEAD /b":                           "HeadBucket b r",
		"PUT /b":                            "CreateBucket b w",
		"PUT /b/":                           "CreateBucket b w",
		"DELETE /b":                         "DeleteBucket b w",
		"POST /b?delete":                    "DeleteObjects b w",
		"GET /b?tagging":                    "GetBucketTagging b r",
		"PUT /b?tagging":                    "PutBucketTagging b w",
		"DELETE /b?tagging":                 "DeleteBucketTagging b w",
		"GET /b?policyStatus":               "GetBucketPolicyStatus b r",
		"PUT /b?publicAccessBlock":          "PutPublicAccessBlock b w",
		"DELETE /b?publicAccessBlock":       "DeletePublicAccessBlock b w",
		"PUT /b?lifecycle":                  "PutBucketLifecycleConfiguration b w",
		"DELETE /b?lifecycle":               "DeleteBucketLifecycle b w",
		"GET /b?location":                   "GetBucketLocation b r",
		"GET /b?versioning":                 "GetBucketVersioning b r",
		"GET /b?versions":                   "ListObjectVersions b r",
		"GET /b?uploads":                    "ListMultipartUploads b r",
		"GET /b?list-type=2":                "ListObjectsV2 b r",
		"GET /b?list-type=2&prefix=tagging": "ListObjectsV2 b r",
		"GET /b":                            "ListObjects b r",
		"GET /b/k":                          "GetObject b r",
		"HEAD /b/k/l":                       "HeadObject b r",
		"PUT /b/k":                          "PutObject b w",
		"DELETE /b/k?versionId=1":           "DeleteObject b w",
		"PUT /b/k?tagging":                  "PutObjectTagging b w",
		"POST /b/k?uploads":                 "CreateMultipartUpload b w",
		"PUT /b/k?uploadId=1&partNumber=1":  "UploadPart b w",
		"POST /b/k?uploadId=1":              "CompleteMultipartUpload b w",
		"DELETE /b/k?uploadId=1":            "AbortMultipartUpload b w",
		"GET http://b.localhost:1/?tagging": "GetBucketTagging b r",
		"PUT http://b.c.s3.eu-west-1.amazonaws.com/": "CreateBucket b.c w",
		"GET http://b.s3.amazonaws.com/k":            "GetObject b r",
		"GET http://s3.eu-west-1.amazonaws.com/b/k":  "GetObject b r",
		"GET http://b.aws.test/k":                    "GetObject b r",
		"GET http://b.s3.aws.test:80/k":              "GetObject b r",
		"GET http://127.0.0.1:9/b":                   "ListObjects b r",
		"GET http://sim.default.svc/b":               "ListObjects b r",
		"POST /v20180820/tags/arn:aws:s3:::b":        "TagResource b w",
	} {
		method, url, _ := strings.Cut(target, " ")
		c := understood(t, "s3", method, url, "")
		if got := brief(c); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
	if c := understood(t, "s3", "PUT", "/b/k", "", "X-Amz-Copy-Source", "b/l"); c.Operation != "CopyObject" {
		t.Errorf("copying is %s", c.Operation)
	}
}

func brief(c Call) string {
	kind := " r"
	if c.Write {
		kind = " w"
	}
	if c.Continued {
		kind += "+"
	}
	return c.Operation + " " + c.Resource + kind
}

func TestRoute53Operations(t *testing.T) {
	for target, want := range map[string]string{
		"GET /2013-04-01/hostedzone":                  "ListHostedZones  r",
		"GET /2013-04-01/hostedzone?marker=Z1":        "ListHostedZones  r+",
		"POST /2013-04-01/hostedzone":                 "CreateHostedZone  w",
		"GET /2013-04-01/hostedzone/Z1":               "GetHostedZone Z1 r",
		"DELETE /2013-04-01/hostedzone/Z1":            "DeleteHostedZone Z1 w",
		"GET /2013-04-01/hostedzone/Z1/rrset":         "ListResourceRecordSets Z1 r",
		"GET /2013-04-01/hostedzone/Z1/rrset?name=a":  "ListResourceRecordSets Z1 r+",
		"POST /2013-04-01/hostedzone/Z1/rrset/":       "ChangeResourceRecordSets Z1 w",
		"GET /2013-04-01/hostedzonesbyname?dnsname=a": "ListHostedZonesByName  r",
		"GET /2013-04-01/change/C1":                   "GetChange C1 r",
		"GET /2013-04-01/tags/hostedzone/Z1":          "ListTagsForResource Z1 r",
		"POST /2013-04-01/tags/hostedzone/Z1":         "ChangeTagsForResource Z1 w",
		"POST /2013-04-01/tags/hostedzone":            "ListTagsForResources  r",
		"PUT /2013-04-01/unheard":                     "PUT /2013-04-01/unheard  w",
	} {
		method, url, _ := strings.Cut(target, " ")
		if got := brief(understood(t, "route53", method, url, "")); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

func TestEKSOperations(t *testing.T) {
	const body = `{"namespace":"shop","serviceAccount":"web"}`
	for target, want := range map[string]string{
		"POST /clusters/main/pod-identity-associations": "CreatePodIdentityAssociation " +
			"main,shop/web w",
		"GET /clusters/main/pod-identity-associations":                     "ListPodIdentityAssociations main r",
		"GET /clusters/main/pod-identity-associations?nextToken=x":         "ListPodIdentityAssociations main r+",
		"GET /clusters/main/pod-identity-associations/a-1":                 "DescribePodIdentityAssociation a-1 r",
		"POST /clusters/main/pod-identity-associations/a-1":                "UpdatePodIdentityAssociation a-1 w",
		"DELETE /clusters/main/pod-identity-associations/a-1":              "DeletePodIdentityAssociation a-1 w",
		"POST /tags/arn:aws:eks:r:1:podidentityassociation/main/a-1":       "TagResource a-1 w",
		"DELETE /tags/arn:aws:eks:r:1:podidentityassociation/main/a-1?x=y": "UntagResource a-1 w",
		"GET /tags/arn:aws:eks:r:1:podidentityassociation/main/a-1":        "ListTagsForResource a-1 r",
		"GET /clusters/main": "GET /clusters/main  w",
	} {
		method, url, _ := strings.Cut(target, " ")
		if got := brief(understood(t, "eks", method, url, body)); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

func TestQueryAndJSONOperations(t *testing.T) {
	const form, target = "application/x-www-form-urlencoded", "X-Amz-Target"
	for name, tc := range map[string]struct {
		got  Call
		want string
	}{
		"rds":        {understood(t, "rds", "POST", "/", "Action=CreateDBInstance&DBInstanceIdentifier=db"), "CreateDBInstance db w"},
		"rds by ARN": {understood(t, "rds", "POST", "/", "Action=AddTagsToResource&ResourceName=arn:aws:rds:r:1:db:db"), "AddTagsToResource db w"},
		"rds pages":  {understood(t, "rds", "POST", "/", "Action=DescribeDBInstances&Marker=m"), "DescribeDBInstances  r+"},
		"ec2 list":   {understood(t, "ec2", "POST", "/", "Action=DescribeInstances&InstanceId.1=i-1&InstanceId.2=i-2"), "DescribeInstances i-1,i-2 r"},
		"ec2 in URL": {understood(t, "ec2", "GET", "/?Action=StopInstances&InstanceId.1=i-1", ""), "StopInstances i-1 w"},
		"elb member": {understood(t, "elasticloadbalancing", "POST", "/", "Action=DescribeTags&ResourceArns.member.1=arn"), "DescribeTags arn r"},
		"sts":        {understood(t, "", "POST", "/", "Action=AssumeRoleWithWebIdentity&RoleArn=arn", "Content-Type", form), "AssumeRoleWithWebIdentity arn r"},
		"sqs URL":    {understood(t, "sqs", "POST", "/", `{"QueueUrl":"http://h/1/q"}`, target, "AmazonSQS.SetQueueAttributes"), "SetQueueAttributes q w"},
		"sqs pages":  {understood(t, "sqs", "POST", "/", `{"NextToken":"n"}`, target, "AmazonSQS.ListQueues"), "ListQueues  r+"},
		"acm":        {understood(t, "acm", "POST", "/", `{"DomainName":"a.test"}`, target, "CertificateManager.RequestCertificate"), "RequestCertificate a.test w"},
		"tagging":    {understood(t, "tagging", "POST", "/", `{"ResourceARNList":["a","b"]}`, target, "ResourceGroupsTaggingAPI_20170126.TagResources"), "TagResources a,b w"},
		"no JSON":    {understood(t, "sqs", "POST", "/", `[`, target, "AmazonSQS.ListQueues"), "ListQueues  r"},
	} {
		if got := brief(tc.got); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestPresignedURLsAreUnderstood(t *testing.T) {
	r := httptest.NewRequest(
		"GET",
		"/b/k?X-Amz-Credential=KEY%2F20260101%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&X-Amz-Security-Token=t", nil)
	s := readScope(r)
	if s.Key != "KEY" || s.Region != "eu-west-1" {
		t.Errorf("%+v", s)
	}
	if s.Service != "s3" || !s.Token {
		t.Errorf("%+v", s)
	}
	if s.Valid.Seconds() != 60 || s.Signed.Year() != 2026 {
		t.Errorf("%+v", s)
	}
}

func TestDropLastItem(t *testing.T) {
	for name, tc := range map[string]struct{ page, want string }{
		"two":     {"<R><Buckets><Bucket><N>a</N></Bucket><Bucket><N>b</N></Bucket></Buckets><T>t</T></R>", "<R><Buckets><Bucket><N>a</N></Bucket></Buckets><T>t</T></R>"},
		"nested":  {"<R><reservationSet><item><tagSet><item/></tagSet></item></reservationSet></R>", "<R><reservationSet></reservationSet></R>"},
		"flat":    {"<R><Contents><K>a</K></Contents><Contents><K>b</K></Contents></R>", "<R><Contents><K>a</K></Contents></R>"},
		"empty":   {"<R><Buckets/></R>", "<R><Buckets/></R>"},
		"no list": {"<R><A/></R>", "<R><A/></R>"},
		"broken":  {"<R><Buckets><Bucket>", "<R><Buckets><Bucket>"},
	} {
		r := &wire.Reply{Status: 200, Body: []byte(tc.page)}
		dropLastItem(&wire.Exchange{Protocol: wire.S3}, r)
		if string(r.Body) != tc.want {
			t.Errorf("%s: %s, want %s", name, r.Body, tc.want)
		}
	}
	r := &wire.Reply{Status: 200, Body: []byte(`{"QueueUrls":["a","b"],"NextToken":"t"}`)}
	dropLastItem(&wire.Exchange{Protocol: wire.JSON}, r)
	if string(r.Body) != `{"NextToken":"t","QueueUrls":["a"]}` {
		t.Errorf("JSON: %s", r.Body)
	}
}

func FuzzLastItem(f *testing.F) {
	f.Add([]byte("<R><Buckets><Bucket/></Buckets></R>"))
	f.Add([]byte("<R><Contents/></R>"))
	f.Fuzz(func(t *testing.T, page []byte) {
		if start, end := lastItem(page); start < 0 || end < start || end > len(page) {
			t.Errorf("%d to %d of %d", start, end, len(page))
		}
	})
}
