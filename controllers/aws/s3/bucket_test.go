package s3

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external/externaltest"
)

func adapter(f *fakeS3) bucket {
	return bucket{
		api: f, tagging: &tagging{}, former: new(string), made: new(made), to: new(destinations),
		session: &cloud.Session{
			Config: aws.Config{Region: "eu-west-1"}, AccountID: "111122223333", Partition: "aws",
			Identity: cloud.Identity{Cluster: "cluster", Kind: "S3Bucket", NamespaceUID: "ns-uid"},
		},
	}
}

func object() *v1alpha1.S3Bucket {
	return &v1alpha1.S3Bucket{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "invoices", UID: "uid-1", Generation: 1},
		Spec:       v1alpha1.S3BucketSpec{AWSSpec: v1alpha1.AWSSpec{ProviderRef: v1alpha1.LocalRef{Name: "aws"}}},
	}
}

func full() *v1alpha1.S3Bucket {
	b := object()
	s := &b.Spec
	s.Versioning = "Enabled"
	s.RequireTLS, s.Policy = aws.Bool(true),
		`{"Statement":{"Effect":"Allow","Principal":{"AWS":"111122223333"},"Action":"s3:GetObject","Resource":"*"}}`
	s.Encryption = &v1alpha1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: "alias/x", BucketKeyEnabled: aws.Bool(true)}
	s.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{
		BlockPublicAcls: aws.Bool(false), RestrictPublicBuckets: aws.Bool(true),
	}
	s.LifecycleRules = []v1alpha1.S3LifecycleRule{
		{ID: "b", ExpirationDays: aws.Int32(10)},
		{Prefix: "logs/", Enabled: aws.Bool(false), AbortIncompleteMultipartUploadDays: aws.Int32(7)},
	}
	s.CORSRules = []v1alpha1.S3CORSRule{
		{AllowedOrigins: []string{"https://b", "https://a"}, AllowedMethods: []string{"PUT", "GET"}},
	}
	s.Tags = v1alpha1.Tags{"team": "payments"}
	return b
}

func TestBucketKeepsTheLaws(t *testing.T) {
	f := &fakeS3{}
	externaltest.Laws(t, externaltest.Case[*v1alpha1.S3Bucket, bucketState]{
		Adapter: adapter(f), Object: full(),
		Writes:  func() int { return f.writes },
		Fail:    func(err error) { f.fail = err },
		Errors:  []error{code("AccessDenied"), code("SlowDown"), code("InternalError"), code("ExpiredToken"), code("NoSuchKey")},
		Lose:    func(on bool) { f.lose = on },
		Strip:   func() { f.strip() },
		Foreign: func() bool { return f.tags["made-by"] == "hand" },
		Drift: map[string]func(){
			"versioning":    func() { f.versioning = s3types.BucketVersioningStatusSuspended },
			"encryption":    func() { f.encryption = nil },
			"public access": func() { f.access = nil },
			"a lifecycle rule": func() {
				f.lifecycle = f.lifecycle[:1]
			},
			"a lifecycle rule's filter": func() {
				f.lifecycle[0].Filter = &s3types.LifecycleRuleFilter{ObjectSizeGreaterThan: aws.Int64(1)}
			},
			"a lifecycle rule's older prefix": func() {
				f.lifecycle[0].Filter, f.lifecycle[0].Prefix = nil, aws.String("x/") //nolint:staticcheck // others write it
			},
			"CORS":                    func() { f.cors = nil },
			"the statement about TLS": func() { f.policy = `{"Statement":{"Sid":"theirs"}}` },
			"the rest of the policy": func() {
				own, _ := iampolicy.Split(f.policy)
				f.policy = iampolicy.Join(own, `{"Statement":{"Sid":"theirs"}}`)
			},
			"a tag":         func() { f.tags["team"] = "search"; f.tags["made-by"] = "hand" },
			"the owner tag": func() { f.tags["portico.dev/uid"] = "older" },
		},
	})
}

func TestNothingMoreIsReadOfAForeignBucket(t *testing.T) {
	f := &fakeS3{exists: true, tags: map[string]string{"made-by": "hand"}}
	if _, err := adapter(f).Observe(t.Context(), full()); err != nil {
		t.Fatal(err)
	}
	if len(f.calls) != 1 {
		t.Errorf("calls %v", f.calls)
	}
}

func TestRemovedFieldsGoBackToTheDefaultOnce(t *testing.T) {
	f := &fakeS3{}
	a, b := adapter(f), full()
	settle(t, a, b)
	b.Status.ManagedFields = a.Declared(b)
	b.Spec = object().Spec
	settle(t, a, b)
	if f.versioning != "Suspended" || !*f.access.BlockPublicAcls {
		t.Errorf("versioning = %s, BlockPublicAcls = %v, want Suspended, true", f.versioning, *f.access.BlockPublicAcls)
	}
	if len(f.lifecycle) != 0 || len(f.cors) != 0 || f.tags["team"] != "" {
		t.Errorf("left: lifecycle %v, CORS %v, tags %v", f.lifecycle, f.cors, f.tags)
	}
	if f.encryption.Rules[0].ApplyServerSideEncryptionByDefault.SSEAlgorithm != "AES256" {
		t.Error("encryption is not AWS's default")
	}
	b.Status.ManagedFields = a.Declared(b)
	f.versioning, f.calls = "Enabled", nil // no longer managed
	settle(t, a, b)
	if f.versioning != "Enabled" || len(f.calls) != 1 {
		t.Errorf("an unmanaged field was touched: %v", f.calls)
	}
}

// settle acts until nothing is left to do.
func settle(t *testing.T, a bucket, b *v1alpha1.S3Bucket) {
	t.Helper()
	for range 4 {
		seen, err := a.Observe(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		actions, err := a.Plan(b, seen)
		if err != nil || len(actions) == 0 {
			return
		}
		for _, s := range actions {
			if err := s.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatal("does not settle")
}

// keys returns n sorted keys.
func keys(n int) []string {
	all := make([]string, 0, n)
	for i := range n {
		all = append(all, fmt.Sprintf("%05d", i))
	}
	return all
}

// A key may contain characters that XML cannot represent: DeleteObjects cannot name it, and reports that it has removed
// it.
func TestEmptyingFindsKeysThatXMLCannotCarry(t *testing.T) {
	f := &fakeS3{exists: true, tags: map[string]string{}, objects: []string{"a\x01b", "a b+c%", "line\nbreak", "z"}}
	a, b := adapter(f), object()
	b.Spec.ForceDestroy = true
	slices.Sort(f.objects)
	if _, err := a.Delete(t.Context(), b, nil); err == nil || !strings.Contains(err.Error(), "4 objects") ||
		len(f.objects) != 0 {
		t.Fatalf("got %v, left %q", err, f.objects)
	}
	if _, err := a.Delete(t.Context(), b, nil); err != nil || f.exists {
		t.Fatalf("got %v, exists %t", err, f.exists)
	}
}

// If a server lists such a key under another name, nothing is removed, however often it reports success.
func TestEmptyingCountsOnlyWhatIsGone(t *testing.T) {
	f := &fakeS3{exists: true, tags: map[string]string{}, objects: []string{"a\x01b"}, plain: true}
	a, b := adapter(f), object()
	b.Spec.ForceDestroy = true
	_, err := a.Delete(t.Context(), b, nil)
	wait, ok := engine.AsWait(err)
	if !ok || wait.Reason != "ObjectsKept" || !wait.Stalled {
		t.Fatalf("error = %v, want ObjectsKept, stalled", err)
	}
	if n := b.Status.RemovedObjects; n != 0 {
		t.Fatalf("RemovedObjects = %d, want 0", n)
	}
	if len(f.calls) > 4 {
		t.Errorf("one pass called %v", f.calls)
	}
	f.objects = []string{"free", "locked-1", "locked-2"}
	_, err = a.Delete(t.Context(), b, nil)
	const says = `2 objects could not be removed. The first that S3 keeps is "locked-2": AccessDenied`
	if reasonOf(err) != "ObjectsKept" || !strings.Contains(err.Error(), says) {
		t.Errorf("error = %v, want ObjectsKept: %s", err, says)
	}
	if n := b.Status.RemovedObjects; n != 1 {
		t.Errorf("RemovedObjects = %d, want 1", n)
	}
}

// What a server stores beside its objects appears in no listing: the message says so, and there is no hurry to try
// again.
func TestABucketThatIsCalledNotEmptyAndListsNothingIsTold(t *testing.T) {
	f := &fakeS3{exists: true, tags: map[string]string{}, stubborn: true}
	a, b := adapter(f), object()
	b.Spec.ForceDestroy = true
	_, err := a.Delete(t.Context(), b, nil)
	wait, ok := engine.AsWait(err)
	if !ok || wait.Reason != "Emptying" || wait.After < 10*time.Second {
		t.Fatalf("error = %v, want Emptying, again after 10s or more", err)
	}
	for _, says := range []string{"is not empty, and lists nothing in it: 0 objects", "Retain or Orphan"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("error = %v, want %q in it", err, says)
		}
	}
}

func TestEmptyingGoesOnWhereItStopped(t *testing.T) {
	f := &fakeS3{exists: true, tags: map[string]string{}, objects: keys(10*1000 + 500)}
	a, b := adapter(f), object()
	b.Spec.ForceDestroy = true
	_, err := a.Delete(t.Context(), b, nil)
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != "Emptying" ||
		!strings.Contains(wait.Error(), "10000 objects") {
		t.Fatalf("got %v", err)
	}
	if _, err := a.Delete(t.Context(), b, nil); err == nil || !strings.Contains(err.Error(), "10500 objects") {
		t.Fatalf("got %v", err)
	}
	if confirmed, err := a.Delete(t.Context(), b, nil); !confirmed || err != nil || f.exists {
		t.Fatalf("confirmed %t, %v, exists %t", confirmed, err, f.exists)
	}
	if confirmed, err := a.Delete(t.Context(), b, nil); confirmed || err != nil {
		t.Errorf("not found counts as confirmed %t, %v", confirmed, err)
	}
}

func TestFirstCallExplainsWhoHasTheName(t *testing.T) {
	for cause, want := range map[string]string{
		"AccessDenied":      "NameTakenOrDenied",
		"PermanentRedirect": "AlreadyExists", "SlowDown": "Throttled",
	} {
		_, err := adapter(&fakeS3{fail: code(cause)}).Observe(t.Context(), object())
		if wait, ok := engine.AsWait(err); !ok || wait.Reason != want {
			t.Errorf("%s: got %v, want %s", cause, err, want)
		}
	}
	ours := object()
	ours.Status.ARN = "arn:aws:s3:::x"
	_, err := adapter(&fakeS3{fail: code("AccessDenied")}).Observe(t.Context(), ours)
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != "AccessDenied" {
		t.Errorf("a bucket of ours: got %v", err)
	}
	if _, err := adapter(&fakeS3{fail: errors.New("boom")}).Observe(t.Context(), ours); err == nil {
		t.Error("an unknown error was dropped")
	}
}

// For any spec, one application of the plan reaches it, and the second pass finds nothing to do.
func TestAnyRulesConverge(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := object()
		n := rapid.IntRange(1, 4).Draw(rt, "rules")
		for i := range n {
			r := v1alpha1.S3LifecycleRule{ExpirationDays: aws.Int32(rapid.Int32Range(1, 999).Draw(rt, "days"))}
			if rapid.Bool().Draw(rt, "named") {
				r.ID = fmt.Sprintf("rule-%d", i)
			}
			if rapid.Bool().Draw(rt, "switched") {
				r.Enabled = aws.Bool(rapid.Bool().Draw(rt, "on"))
			}
			r.Prefix = rapid.StringMatching(`[a-z/]{0,8}`).Draw(rt, "prefix")
			b.Spec.LifecycleRules = append(b.Spec.LifecycleRules, r)
		}
		b.Spec.CORSRules = []v1alpha1.S3CORSRule{{
			AllowedOrigins: rapid.SliceOfN(rapid.StringMatching(`https://[a-z]{1,5}`), 1, 4).Draw(rt, "origins"),
			AllowedMethods: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"GET", "PUT", "POST"}), 1, 3,
				rapid.ID).Draw(rt, "methods"),
		}}
		settle(t, adapter(&fakeS3{}), b)
	})
}

// AWS always encrypts, and needs no call for it; a server without default encryption gets the call.
func TestDeclaredEncryptionIsSentWhereNoneIsSet(t *testing.T) {
	for unencrypted, writes := range map[bool]int{true: 1, false: 0} {
		b := object()
		f := &fakeS3{exists: true, unencrypted: unencrypted, tags: adapter(nil).session.Tags(b, nil)}
		b.Spec.Encryption = &v1alpha1.S3Encryption{Algorithm: "AES256"}
		for range 2 {
			if got := pass(t, f, b); got != "" || f.writes != writes || (f.encryption != nil) != unencrypted {
				t.Errorf("unencrypted %t: got %q, %d writes", unencrypted, got, f.writes)
			}
		}
		f.encryption, b.Spec.Encryption = nil, nil
		if got := pass(t, f, b); got != "" || f.writes != writes {
			t.Errorf("unencrypted %t: withdrawn: got %q, %d writes", unencrypted, got, f.writes)
		}
	}
}

// S3 may return a maxAgeSeconds of 0, or omit it: neither is a difference, and a declared value is sent with the next
// change of a rule.
func TestAZeroMaxAgeSettlesReturnedOrLeftOut(t *testing.T) {
	for _, returned := range []*int32{nil, aws.Int32(0)} {
		b := object()
		f := &fakeS3{exists: true, tags: adapter(nil).session.Tags(b, nil)}
		for _, declared := range []*int32{aws.Int32(0), nil} {
			b.Spec.CORSRules = []v1alpha1.S3CORSRule{
				{AllowedOrigins: []string{"*"}, AllowedMethods: []string{"GET"}, MaxAgeSeconds: declared},
			}
			settle(t, adapter(f), b)
			f.cors[0].MaxAgeSeconds = returned
			writes := f.writes
			if got := pass(t, f, b); got != "" || f.writes != writes {
				t.Errorf("declared %v, returned %v: got %q, written again", declared, returned, got)
			}
		}
		b.Spec.CORSRules[0].MaxAgeSeconds = aws.Int32(600)
		settle(t, adapter(f), b)
		b.Spec.CORSRules[0].MaxAgeSeconds = aws.Int32(0)
		settle(t, adapter(f), b)
		if got := f.cors[0].MaxAgeSeconds; got == nil || *got != 0 {
			t.Errorf("0 after 600 is sent as %v", got)
		}
	}
}

func TestTheDomainNameIsThatOfTheEndpoint(t *testing.T) {
	for want, c := range map[string]struct{ region, partition, endpoint string }{
		"pay.s3.eu-west-1.amazonaws.com":     {region: "eu-west-1", partition: "aws"},
		"pay.s3.us-east-1.amazonaws.com":     {region: "us-east-1", partition: "aws"},
		"pay.s3.us-gov-west-1.amazonaws.com": {region: "us-gov-west-1", partition: "aws-us-gov"},
		"pay.s3.cn-north-1.amazonaws.com.cn": {region: "cn-north-1", partition: "aws-cn"},
		"pay.s3.eusc-de-east-1.amazonaws.eu": {region: "eusc-de-east-1", partition: "aws-eusc"},
		// AWS's certificate covers only one label
		"s3.eu-west-1.amazonaws.com/a.b":     {region: "eu-west-1", partition: "aws"},
		"minio.example.com:9000/pay":         {region: "eu-west-1", partition: "aws", endpoint: "https://minio.example.com:9000"},
		"gateway.example.com/storage/s3/a.b": {region: "eu-west-1", partition: "aws", endpoint: "https://gateway.example.com/storage/s3/"},
		"[fd00::1]:4566/a.b":                 {region: "eu-west-1", partition: "aws", endpoint: "http://[fd00::1]:4566"},
	} {
		a, b := adapter(&fakeS3{}), object()
		a.session.Config.Region, a.session.Partition, a.session.Services.All = c.region, c.partition, c.endpoint
		if b.Spec.BucketName = "pay"; strings.Contains(want, "a.b") {
			b.Spec.BucketName = "a.b"
		}
		a.Report(b, nil)
		if got := b.Status.BucketDomainName; got != want {
			t.Errorf("%+v: %s, want %s", c, got, want)
		}
	}
}

// One call replaces a bucket's whole encryption rule: its settings beside our fields must be preserved.
func TestBlockedEncryptionTypesSurvive(t *testing.T) {
	f := &fakeS3{}
	a, b := adapter(f), object()
	b.Spec.Encryption = &v1alpha1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: "one"}
	settle(t, a, b)
	f.encryption.Rules[0].BlockedEncryptionTypes = &s3types.BlockedEncryptionTypes{
		EncryptionType: []s3types.EncryptionType{"SSE-C"},
	}
	b.Spec.Encryption.KMSKeyID = "two"
	settle(t, a, b)
	if got := f.encryption.Rules[0]; got.BlockedEncryptionTypes == nil ||
		*got.ApplyServerSideEncryptionByDefault.KMSMasterKeyID != "two" {
		t.Errorf("rule %+v", got)
	}
}

func TestTheOfferIsTakenOnce(t *testing.T) {
	f := &fakeS3{exists: true, tags: map[string]string{cloud.TagAdopt: "payments/invoices", "made-by": "hand"}}
	settle(t, adapter(f), object())
	if _, left := f.tags[cloud.TagAdopt]; left || f.tags["made-by"] != "hand" {
		t.Errorf("tags %v: the next object of this name could take the bucket", f.tags)
	}
}

func TestARemovedBucketKeyGoesBack(t *testing.T) {
	f := &fakeS3{}
	a, b := adapter(f), object()
	b.Spec.Encryption = &v1alpha1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: "k", BucketKeyEnabled: aws.Bool(true)}
	settle(t, a, b)
	b.Status.ManagedFields = a.Declared(b)
	b.Spec.Encryption.BucketKeyEnabled = nil
	settle(t, a, b)
	if *f.encryption.Rules[0].BucketKeyEnabled {
		t.Error("the bucket key is still on")
	}
}

func TestDeletionReadsNoFeatures(t *testing.T) {
	f := &fakeS3{}
	a, b := adapter(f), full()
	settle(t, a, b)
	b.Status.ManagedFields = a.Declared(b)
	f.calls = nil
	now := metav1.Now()
	b.DeletionTimestamp = &now
	if _, err := a.Observe(t.Context(), b); err != nil || len(f.calls) != 1 {
		t.Errorf("calls %v, %v", f.calls, err)
	}
}

func TestObserveComparesAndLeavesTags(t *testing.T) {
	f := &fakeS3{exists: true, tags: map[string]string{"made-by": "hand", "portico.dev/namespace": "payments"}}
	a, b := adapter(f), object()
	b.Spec.ManagementPolicy, b.Spec.Versioning = v1alpha1.ManagementObserve, "Enabled"
	seen, err := a.Observe(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	actions, err := a.Plan(b, seen)
	if err != nil || len(actions) != 1 || actions[0].Why != "versioning Suspended → Enabled" {
		t.Errorf("steps %+v, %v", actions, err)
	}
}

func TestATakenNameReservesNothing(t *testing.T) {
	a, b := adapter(&fakeS3{create: code("BucketAlreadyExists")}), object()
	a.Reserve(b, nil)
	actions, _ := a.Plan(b, nil)
	if err := actions[0].Do(t.Context()); err == nil || b.Status.AccountID != "" || b.Status.BucketName != "" {
		t.Errorf("%v, status %+v", err, b.Status)
	}
}
