package cloud

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

func failed(code, message string) error {
	return &smithy.OperationError{
		ServiceID: "S3", OperationName: "PutBucketVersioning",
		Err: fmt.Errorf("https response error StatusCode: 403, RequestID: 4442587FB7D0A2F9, %w",
			&smithy.GenericAPIError{Code: code, Message: message}),
	}
}

func TestExplain(t *testing.T) {
	for code, want := range map[string]string{
		"SlowDown": "Throttled", "ProvisionedThroughputExceededException": "Throttled",
		"ThrottlingException": "Throttled", "OperationAborted": "Busy",
		"AccessDenied": "AccessDenied", "InvalidArgument": "InvalidSpec", "InvalidBucketState": "InvalidSpec",
		"TooManyBuckets": "QuotaExceeded",
	} {
		err := Explain(failed(code, "Because."))
		wait, ok := engine.AsWait(err)
		if !ok || wait.Reason != want {
			t.Errorf("%s: got %v", code, err)
			continue
		}
		if text := err.Error(); !strings.HasPrefix(text, "S3 PutBucketVersioning: "+code+": Because. ") ||
			strings.Contains(text, "RequestID") {
			t.Errorf("%s: text %q", code, text)
		}
	}
	for _, c := range []struct{ code, message, reason, says string }{
		{"SignatureDoesNotMatch", "the string to sign was … x-amz-security-token:secret 2026", "CredentialsRejected", "renew"},
		{"AuthFailure", "AWS was not able to validate the provided access credentials 2026", "CredentialsRejected", "renew them"},
		{"SignatureDoesNotMatch", "Signature expired: 20260102T120000Z is now earlier than … x-amz-security-token:secret", "ClockSkew", "check the clock"},
		{"InvalidSignatureException", "Signature not yet current: 20260102T120000Z is still later than …", "ClockSkew", "check the clock"},
		{"RequestTimeTooSkewed", "The difference between the request time and the server's time is too large. 2026", "ClockSkew", "check the clock"},
		{"RequestExpired", "Request has expired. 2026", "ClockSkew", "check the clock"},
		{"InvalidIdentityToken", "Couldn't retrieve verification key from your identity provider 2026", "IdentityNotVerified", "often passes"},
	} {
		err := Explain(failed(c.code, c.message))
		wait, ok := engine.AsWait(err)
		if !ok {
			t.Fatalf("%s: error = %v, want a pause", c.code, err)
		}
		if stalled := c.reason != "IdentityNotVerified"; wait.Reason != c.reason || wait.Stalled != stalled {
			t.Errorf("%s: reason = %s, stalled %v, want %s, %v", c.code, wait.Reason, wait.Stalled, c.reason, stalled)
		}
		if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error = %v, want %q in it", c.code, err, c.says)
		}
		if strings.Contains(err.Error(), "2026") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %q tells what AWS says of the call", c.code, err)
		}
	}
	if Explain(nil) != nil {
		t.Error("nil is an error")
	}
	if _, ok := engine.AsWait(Explain(failed("InternalError", ""))); ok {
		t.Error("a transient error is not tried again with back-off")
	}
	for _, c := range []struct {
		err  error
		want bool
	}{{failed("AccessDenied", ""), false}, {errors.New("reset"), false}, {failed("NoSuchBucket", ""), true}} {
		if got := IsNotFound(c.err); got != c.want {
			t.Errorf("IsNotFound(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}

// Servers other than AWS add text to a code, or return errors that AWS does not have.
func TestErrorsOfOtherServersAreUnderstood(t *testing.T) {
	if got := Code(failed("com.amazonaws.sqs#QueueDoesNotExist;Sender", "")); got != "QueueDoesNotExist" {
		t.Errorf("code %q", got)
	}
	if !IsNotFound(failed("com.amazonaws.sqs#QueueDoesNotExist", "")) {
		t.Error("a queue's absence is misread")
	}
	answer := &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: 405}}, Err: &smithy.GenericAPIError{
			Code: "UnknownError", Message: "UnknownError",
		},
	}}
	err := Explain(&smithy.OperationError{ServiceID: "S3", OperationName: "PutBucketCors", Err: answer})
	if err.Error() != "S3 PutBucketCors: UnknownError: HTTP status 405" {
		t.Errorf("%q", err)
	}
}

func TestTextsOfErrorsAreStable(t *testing.T) {
	dial := func(port int) error {
		return &smithy.OperationError{ServiceID: "S3", OperationName: "HeadBucket", Err: &net.OpError{
			Op:     "read",
			Source: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port},
			Err:    os.NewSyscallError("read", syscall.ECONNRESET),
		}}
	}
	if a, b := Explain(dial(1)).Error(), Explain(dial(2)).Error(); a != b ||
		a != "S3 HeadBucket: connection reset by peer" {
		t.Errorf("%q differs from %q", a, b)
	}
	if !errors.Is(Explain(dial(1)), syscall.ECONNRESET) {
		t.Error("the cause is lost")
	}
	a := Explain(failed("UnauthorizedOperation", "You are not authorized. Encoded authorization failure "+
		"message: abc123"))
	b := Explain(failed("UnauthorizedOperation", "You are not authorized. Encoded authorization failure "+
		"message: xyz789"))
	if a.Error() != b.Error() {
		t.Errorf("%q differs from %q", a, b)
	}
}

func TestSessionsOfOneRoleAreOneIdentity(t *testing.T) {
	for arn, want := range map[string]string{
		"arn:aws:sts::1:assumed-role/portico/1700000000": "arn:aws:sts::1:assumed-role/portico",
		"arn:aws:iam::1:user/path/portico":               "arn:aws:iam::1:user/path/portico",
	} {
		if got := withoutSession(arn); got != want {
			t.Errorf("%s: %s", arn, got)
		}
	}
}

func TestAnUnknownHostIsAlwaysTheSameText(t *testing.T) {
	lookup := func(port string) error {
		return &smithy.OperationError{
			ServiceID: "S3", OperationName: "HeadBucket",
			Err: &net.OpError{Op: "dial", Err: &net.DNSError{
				Err: "read udp 10.0.0.1:" + port + "->10.0.0.2:53: i/o timeout", Name: "s3.example.com",
			}},
		}
	}
	if a, b := Explain(lookup("1")).Error(), Explain(lookup("2")).Error(); a != b ||
		!strings.Contains(a, "s3.example.com") {
		t.Errorf("%q differs from %q", a, b)
	}
}

func object() *v1alpha1.S3Bucket {
	return &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "invoices", UID: "u1"}}
}

func TestOwner(t *testing.T) {
	id := Identity{Cluster: "c1", Kind: "S3Bucket", NamespaceUID: "n1", FormerNamespaceUIDs: []string{"lost1", "lost2"}}
	with := func(change ...string) map[string]string {
		tags := id.OwnershipTags(object())
		for i := 0; i+1 < len(change); i += 2 {
			tags[change[i]] = change[i+1]
		}
		return tags
	}
	for _, x := range []struct {
		name string
		tags map[string]string
		want external.Owner
	}{
		{"ours", with(), external.Ours},
		{"with others' tags beside", with("team", "x"), external.Ours},
		{"of an earlier life", with(TagUID, "u0"), external.Earlier},
		{"without a UID", with(TagUID, ""), external.Earlier},
		{"of another cluster", with(TagCluster, "c2"), external.Foreign},
		{"of another kind", with(TagKind, "SQSQueue"), external.Foreign},
		{"of another namespace", with(TagNamespace, "search"), external.Foreign},
		{"of another namespace of this name", with(tagNamespaceUID, "n0"), external.Foreign},
		{"of the namespace in a lost cluster", with(tagNamespaceUID, "lost2", TagUID, "u0"), external.Earlier},
		{"of the namespace in a lost cluster, whatever the UID", with(tagNamespaceUID, "lost1"), external.Earlier},
		{"of another object in a lost cluster", with(tagNamespaceUID, "lost1", TagName, "other"), external.Foreign},
		{"of another lost cluster's namespace", with(tagNamespaceUID, "lost1", TagCluster, "c2"), external.Foreign},
		{"without a namespace's UID", with(tagNamespaceUID, ""), external.Foreign},
		{"of another object", with(TagName, "other"), external.Foreign},
		{"without tags", nil, external.Foreign},
		{"offered", map[string]string{TagAdopt: "payments/invoices"}, external.Offered},
		{"offered, but another object's", with(tagNamespaceUID, "n0", TagAdopt, "payments/invoices"), external.Foreign},
		{"offered to somebody else", map[string]string{TagAdopt: "search/invoices"}, external.Foreign},
	} {
		if got := id.Owner(object(), x.tags); got != x.want {
			t.Errorf("%s: got %v, want %v", x.name, got, x.want)
		}
	}
	if got := id.SearchTags(object()); !slices.Equal(got[tagNamespaceUID], []string{"n1", "lost1", "lost2"}) ||
		!slices.Equal(got[TagCluster], []string{"c1"}) || len(got) != 6 {
		t.Errorf("searched for by %v", got)
	}
	if got := (Identity{Kind: "S3Bucket"}).Owner(object(), Identity{Kind: "S3Bucket"}.OwnershipTags(
		object())); got != external.Foreign {
		t.Errorf("empty marks own everything: %v", got)
	}
}

func TestOnlyOurOwnTagsAreMarks(t *testing.T) {
	rest := TagChange{Remove: OwnershipTagKeys(map[string]string{TagUID: "x", TagAdopt: "y", "team": "z"})}.Apply(
		map[string]string{TagUID: "x", TagAdopt: "y", "team": "z"})
	if len(rest) != 1 || rest["team"] != "z" {
		t.Errorf("left %v", rest)
	}
}

func TestGeneratedNamesFitAndDiffer(t *testing.T) {
	id := Identity{Cluster: "c1"}
	long := object()
	long.Name = strings.Repeat("long.name-", 20)
	longer := long.DeepCopy()
	longer.Name += "x"
	a, b := id.GeneratedName(long, 63), id.GeneratedName(longer, 63)
	if len(a) > 63 || a == b || strings.Contains(a, ".") {
		t.Errorf("%q and %q", a, b)
	}
	if got := id.GeneratedName(object(), 63); !strings.HasPrefix(got, "payments-invoices-") ||
		got == (Identity{Cluster: "c2"}).GeneratedName(object(), 63) {
		t.Errorf("%q", got)
	}
}

// Whatever the names of a namespace and its objects are, its bucket names begin with a prefix that no other namespace
// has.
func TestGeneratedBucketNamesBeginWithTheirPrefix(t *testing.T) {
	id := Identity{Cluster: "c1"}
	seen := map[string]string{}
	for _, namespace := range []string{"pay", "pay-roll", "pay-roll-east", strings.Repeat("n", 63)} {
		obj := object()
		obj.Namespace, obj.Name = namespace, strings.Repeat("long.name-", 20)
		prefix := BucketPrefix("c1", namespace) + "-"
		name := id.GeneratedBucketName(obj, 63)
		if len(name) > 63 || !strings.HasPrefix(name, prefix+namespace[:3]) || strings.Contains(name, ".") {
			t.Errorf("%q does not begin with %s", name, prefix)
		}
		if other := seen[prefix]; other != "" {
			t.Errorf("%s and %s have the prefix %s", other, namespace, prefix)
		}
		seen[prefix] = namespace
	}
	if a, b := BucketPrefix("c1", "pay"), BucketPrefix("c2", "pay"); a == b || len(a) != 17 {
		t.Errorf("%s, and %s in another cluster", a, b)
	}
	obj := object()
	if got := id.GeneratedBucketName(obj, 63); got != BucketPrefix("c1", "payments")+"-"+id.GeneratedName(obj, 63) {
		t.Errorf("%q", got)
	}
	// The command that docs/iam/README.md gives admins: echo 0$(printf %s CLUSTER/NAMESPACE | sha256sum | cut -c1-16)
	if got := BucketPrefix("c1", "pay"); got != "0982829b28bf18890" {
		t.Errorf("existing buckets would be out of reach: %s", got)
	}
}

func TestOwnTagsWinOverDefaults(t *testing.T) {
	s := Session{
		Rules:    v1alpha1.AWSRules{DefaultTags: v1alpha1.Tags{"team": "platform", "env": "prod"}},
		Identity: Identity{Cluster: "c"},
	}
	tags := s.Tags(object(), v1alpha1.Tags{"team": "payments"})
	if tags["team"] != "payments" || tags["env"] != "prod" || tags[TagUID] != "u1" {
		t.Errorf("tags %v", tags)
	}
}

// The platform's tags win over a team's, and are restored when somebody changes them.
func TestEnforcedTagsWinAndForbiddenOnesAreNotSet(t *testing.T) {
	s := Session{Provider: "aws-prod", Identity: Identity{Cluster: "c"}, Rules: v1alpha1.AWSRules{
		DefaultTags: v1alpha1.Tags{"env": "prod", "billing": "platform"}, EnforcedTags: v1alpha1.Tags{"cost-center": "4711"}, ForbiddenTagKeys: []string{"billing", "map-*"},
	}}
	own := v1alpha1.Tags{"cost-center": "1", "billing": "free", "map-migrated": "x", "mapped": "y", "env": "test"}
	want := s.Tags(object(), own)
	for key, value := range map[string]string{
		"cost-center": "4711", "billing": "platform", "mapped": "y",
		"env": "test",
	} {
		if want[key] != value {
			t.Errorf("%s is %q, want %q", key, want[key], value)
		}
	}
	if _, set := want["map-migrated"]; set {
		t.Error("a forbidden tag is set")
	}
	b := &v1alpha1.S3Bucket{ObjectMeta: object().ObjectMeta}
	b.Status.ManagedFields = []string{"tags.map-migrated"} // set before it was forbidden
	change := s.PlanTags(b, own, map[string]string{"cost-center": "1", "map-migrated": "x"})
	if change.Set["cost-center"] != "4711" || len(change.Remove) != 1 || change.Remove[0] != "map-migrated" {
		t.Errorf("drift is mended by %+v", change)
	}
	err := s.CheckTags(own)
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != "TagForbidden" ||
		!strings.Contains(err.Error(), "AWSProvider aws-prod keeps for the platform: billing, map-migrated. "+
			"Remove them") {
		t.Errorf("got %v", err)
	}
	if err := s.CheckTags(v1alpha1.Tags{"cost-center": "1", "mapped": "y"}); err != nil {
		t.Errorf("got %v", err)
	}
	// IAM's tag conditions ignore case, so a key that differs only in case would match the platform's.
	other := v1alpha1.Tags{"Cost-Center": "1", "BILLING": "free", "MAP-migrated": "x", "ma": "z"}
	if err := s.CheckTags(other); err == nil ||
		!strings.Contains(err.Error(), ": BILLING, Cost-Center, MAP-migrated. Remove them") {
		t.Errorf("got %v", err)
	}
	for key := range s.Tags(object(), other) {
		if _, asked := other[key]; asked && key != "ma" {
			t.Errorf("%s is set", key)
		}
	}
}

func TestPartitionIsReadOffTheCaller(t *testing.T) {
	for arn, want := range map[string]string{
		"arn:aws-cn:sts::1:x": "aws-cn", "arn:aws-us-gov:iam::1:user/x": "aws-us-gov", "arn:aws:iam::1:x": "aws",
		"": "aws",
	} {
		if got := partition(arn); got != want {
			t.Errorf("%q: %q", arn, got)
		}
	}
}
