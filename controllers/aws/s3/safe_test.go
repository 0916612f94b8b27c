package s3

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// looks runs a pass, which is an audit or not, and returns its calls.
func looks(t *testing.T, f *fakeS3, b *v1alpha1.S3Bucket, audit bool) (calls []string, reason string) {
	t.Helper()
	f.calls = nil
	reason = passIn(engine.WithAudit(t.Context(), audit), t, adapter(f), b)
	return f.calls, reason
}

// created returns a bucket that Portico has created.
func created(t *testing.T, change ...func(*v1alpha1.S3Bucket)) (*fakeS3, *v1alpha1.S3Bucket) {
	t.Helper()
	f, b := &fakeS3{}, object()
	for _, c := range change {
		c(b)
	}
	if got := pass(t, f, b); got != "" {
		t.Fatalf("got %q", got)
	}
	b.Status.FirstReadyTime = &metav1.Time{Time: time.Now()}
	return f, b
}

// blocked returns the switches, in the order of AWS's documentation.
func blocked(f *fakeS3) [4]bool {
	a := f.access
	if a == nil {
		return [4]bool{}
	}
	return [4]bool{
		aws.ToBool(a.BlockPublicAcls), aws.ToBool(a.IgnorePublicAcls), aws.ToBool(a.BlockPublicPolicy),
		aws.ToBool(a.RestrictPublicBuckets),
	}
}

var allOn = [4]bool{true, true, true, true}

func TestANameOnlyBucketReadsOnlyItsTagsBetweenAudits(t *testing.T) {
	f, b := created(t)
	if got, reason := looks(t, f, b, false); reason != "" || !slices.Equal(got, []string{"GetBucketTagging"}) {
		t.Errorf("%s; called %v", reason, got)
	}
	if got, reason := looks(t, f, b, true); reason != "" ||
		!slices.Equal(got, []string{"GetBucketTagging", "GetPublicAccessBlock", "GetBucketPolicy"}) {
		t.Errorf("%s; an audit called %v", reason, got)
	}
}

func TestAnAuditBlocksPublicAccessAgain(t *testing.T) {
	f, b := created(t)
	f.access = nil
	if got, _ := looks(t, f, b, false); len(got) != 1 || f.access != nil {
		t.Errorf("a look that is no audit called %v", got)
	}
	if _, reason := looks(t, f, b, true); reason != "" || blocked(f) != allOn {
		t.Errorf("%s; switches %v", reason, blocked(f))
	}
}

// A refused repair is reported until it succeeds, and not only in audits.
func TestARefusedRepairOfPublicAccessShows(t *testing.T) {
	f, b := created(t)
	f.access, f.refuse = nil, "PutPublicAccessBlock"
	for _, audit := range []bool{true, false} {
		if _, reason := looks(t, f, b, audit); reason != "AccessDenied" {
			t.Errorf("audit %v: got %q", audit, reason)
		}
	}
	f.refuse = ""
	if _, reason := looks(t, f, b, false); reason != "" || blocked(f) != allOn {
		t.Errorf("%s; switches %v", reason, blocked(f))
	}
}

// An adopted bucket may be public on purpose: each switch is kept on only once the spec has declared it.
func TestAnAdoptedBucketIsNotClosed(t *testing.T) {
	f, b := offered()
	if got := pass(t, f, b); got != "" {
		t.Fatalf("got %q", got)
	}
	if got, reason := looks(t, f, b, true); reason != "" || f.access != nil ||
		slices.Contains(got, "GetPublicAccessBlock") {
		t.Errorf("%s; called %v, switches %v", reason, got, blocked(f))
	}
	b.Spec.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{BlockPublicPolicy: aws.Bool(true)}
	if got := pass(t, f, b); got != "" || blocked(f) != [4]bool{false, false, true, false} {
		t.Errorf("%s; switches %v", got, blocked(f))
	}
	b.Spec.PublicAccessBlock = nil
	if got := pass(t, f, b); got != "" || blocked(f) != [4]bool{false, false, true, false} {
		t.Errorf("%s; withdrawn: switches %v", got, blocked(f))
	}
	f.access = nil
	if _, reason := looks(t, f, b, true); reason != "" || blocked(f) != [4]bool{false, false, true, false} {
		t.Errorf("%s; switches %v", reason, blocked(f))
	}
}

// Switches that the spec does not declare are kept on, beside those that it opens.
func TestUndeclaredSwitchesOfPublicAccessAreKeptOn(t *testing.T) {
	f, b := created(t, func(b *v1alpha1.S3Bucket) {
		b.Spec.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{BlockPublicPolicy: aws.Bool(false)}
	})
	f.access = nil
	if _, reason := looks(t, f, b, false); reason != "" || blocked(f) != [4]bool{true, true, false, true} {
		t.Errorf("%s; switches %v", reason, blocked(f))
	}
	b.Spec.PublicAccessBlock = nil
	if got := pass(t, f, b); got != "" || blocked(f) != allOn {
		t.Errorf("%s; withdrawn: switches %v", got, blocked(f))
	}
}

// A server other than AWS without Block Public Access fails only specs that declare it.
func TestAServerWithoutPublicAccessBlockIsInSync(t *testing.T) {
	f, b := created(t)
	f.lacks = "GetPublicAccessBlock"
	if _, reason := looks(t, f, b, true); reason != "" {
		t.Errorf("got %q", reason)
	}
	b.Spec.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{BlockPublicPolicy: aws.Bool(true)}
	if got := pass(t, f, b); got != "InvalidSpec" {
		t.Errorf("declared: got %q", got)
	}
	b.Spec.PublicAccessBlock = nil
	if got := pass(t, f, b); got != "" {
		t.Errorf("withdrawn: got %q", got)
	}
}

// A setting that the server lacks is named, and leaves nothing behind when it is removed.
func TestASettingThatTheServerDoesNotHaveIsNamed(t *testing.T) {
	f, b := created(t)
	f.lacks = "GetBucketLifecycleConfiguration"
	b.Spec.LifecycleRules = []v1alpha1.S3LifecycleRule{{ID: "old", ExpirationDays: aws.Int32(30)}}
	if got := pass(t, f, b); got != "InvalidSpec" {
		t.Fatalf("got %q", got)
	}
	_, err := adapter(f).Observe(t.Context(), b)
	const want = "the S3 server of the provider does not have lifecycleRules (it answers NotImplemented): leave it " +
		"out of the spec, or use a provider whose server has it"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	writes := f.writes
	b.Spec.LifecycleRules = nil
	if got := pass(t, f, b); got != "" || f.writes != writes {
		t.Errorf("withdrawn: got %q, %d writes", got, f.writes-writes)
	}
}

// The error names the field that a server lacks, in reads and in writes.
func TestWhatAServerLacksIsNamed(t *testing.T) {
	for _, answer := range []string{"NotImplemented", "MethodNotAllowed"} {
		for _, path := range []string{"versioning", "corsRules"} {
			err := explain(code(answer), path)
			wait, ok := engine.AsWait(err)
			if !ok || wait.Reason != "InvalidSpec" {
				t.Fatalf("%s, %s: error = %v, want InvalidSpec", answer, path, err)
			}
			for _, says := range []string{"does not have " + path, "leave it out of the spec", answer} {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%s, %s: error = %v, want %q in it", answer, path, err, says)
				}
			}
		}
	}
	f := &fakeS3{exists: true, lacks: "GetBucketCors"}
	a, b := adapter(f), full()
	f.tags = a.session.Tags(b, nil)
	if _, err := a.Observe(t.Context(), b); err == nil || !strings.Contains(err.Error(), "does not have "+cors.path) {
		t.Errorf("read: %v", err)
	}
}

// A new bucket refuses requests without TLS with one more call, and again after an audit has found that it does not.
func TestANewBucketRequiresTLS(t *testing.T) {
	f, b := created(t)
	if want := []string{
		"GetBucketTagging", "CreateBucket", "PutBucketPolicy",
		"GetBucketTagging",
	}; !slices.Equal(f.calls, want) {
		t.Errorf("calls %v, want %v", f.calls, want)
	}
	policy := f.policy
	if !strings.Contains(policy, `"aws:SecureTransport":"false"`) {
		t.Fatalf("policy %q", policy)
	}
	f.policy = ""
	if _, reason := looks(t, f, b, true); reason != "" || f.policy != policy {
		t.Errorf("%s; policy %q", reason, f.policy)
	}
	b.Spec.RequireTLS = aws.Bool(false)
	b.Generation++
	if _, reason := looks(t, f, b, false); reason != "" || f.policy != "" {
		t.Errorf("%s; policy %q", reason, f.policy)
	}
}

// A bucket of an earlier version keeps its policy, and costs no more calls.
func TestAnOlderBucketGetsNoStatementByItself(t *testing.T) {
	f, b := created(t)
	f.policy, b.Status.SafeFields = "", slices.DeleteFunc(b.Status.SafeFields,
		func(path string) bool { return path == tlsPath })
	got, reason := looks(t, f, b, true)
	if reason != "" || f.policy != "" || !slices.Equal(got, []string{"GetBucketTagging", "GetPublicAccessBlock"}) {
		t.Errorf("%s; policy %q, called %v", reason, f.policy, got)
	}
}

// Statements of others stay, whatever Portico does with its own statement.
func TestStatementsOfOthersInABucketStay(t *testing.T) {
	f, b := created(t)
	const theirs = `{"Sid":"theirs","Effect":"Allow","Principal":{"AWS":"111122223333"},"Action":"s3:GetObject","Resource":"*"}`
	own, _ := iampolicy.Split(f.policy)
	f.policy = iampolicy.Join(own, `{"Statement":[`+theirs+`]}`)
	for _, on := range []bool{true, false, true} {
		b.Spec.RequireTLS = aws.Bool(on)
		b.Generation++
		if _, reason := looks(t, f, b, false); reason != "" || !strings.Contains(f.policy, theirs) ||
			strings.Contains(f.policy, "RequireTLS") != on {
			t.Errorf("%s; requireTLS %v: %s", reason, on, f.policy)
		}
	}
}
