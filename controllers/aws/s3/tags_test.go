package s3

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3control"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
)

// tagCalls returns the calls after the first n that wrote tags.
func tagCalls(f *fakeS3, n int) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(f.calls[n:]), func(call string) bool {
		return !strings.HasPrefix(call, "Put") && !strings.HasPrefix(call, "Delete") &&
			!strings.Contains(call, "agResource")
	}), " ")
}

// With attribute-based access control, S3 accepts tags only by S3 Control: they are repaired, changed and removed by
// it, and only the first change of a bucket has to find that out.
func TestTagsOfABucketWithABAC(t *testing.T) {
	f, b := &fakeS3{}, object()
	a := adapter(f)
	b.Spec.Tags = v1alpha1.Tags{"team": "payments"}
	if got := passOf(t, a, b); got != "" {
		t.Fatalf("got %q", got)
	}
	f.abac = true
	f.tags["portico.dev/uid"], f.tags["made-by"] = "older", "hand"
	for _, step := range []struct {
		tags v1alpha1.Tags
		want string
	}{
		{v1alpha1.Tags{"team": "payments"}, "PutBucketTagging TagResource"},
		{v1alpha1.Tags{"cost": "low"}, "TagResource UntagResource"},
		{nil, "UntagResource"},
	} {
		b.Spec.Tags = step.tags
		before := len(f.calls)
		if got := passOf(t, a, b); got != "" || tagCalls(f, before) != step.want {
			t.Errorf("tags %v: got %q, calls %v, want %s", step.tags, got, f.calls[before:], step.want)
		}
		if f.tags["portico.dev/uid"] != "uid-1" || f.tags["made-by"] != "hand" ||
			f.tags["cost"] != string(step.tags["cost"]) {
			t.Errorf("tags %v", f.tags)
		}
	}
	b.Spec.DeletionPolicy = v1alpha1.DeletionOrphan
	if got := remove(t, f, b); got != "" || !f.exists {
		t.Errorf("after it was orphaned: %q, exists %v, want none, true", got, f.exists)
	}
	if want := map[string]string{"made-by": "hand"}; !maps.Equal(f.tags, want) {
		t.Errorf("after it was orphaned: tags %v, want %v", f.tags, want)
	}
}

// S3 Control adopts an offered bucket: it sets the marks, and then removes the offer.
func TestABucketWithABACIsAdopted(t *testing.T) {
	f, b := offered()
	f.abac = true
	if got := pass(t, f, b); got != "" || tagCalls(f, 0) != "PutBucketTagging TagResource UntagResource" {
		t.Errorf("got %q, calls %v", got, f.calls)
	}
	if _, offer := f.tags[cloud.TagAdopt]; offer || f.tags["portico.dev/uid"] != "uid-1" {
		t.Errorf("tags %v", f.tags)
	}
}

// S3 Control is called only if S3's refusal requires it, and for no other refusal.
func TestS3ControlIsCalledOnlyWhereS3AsksForIt(t *testing.T) {
	for name, c := range map[string]struct {
		server    fakeS3
		endpoint  string
		got, want string
	}{
		"tags are taken":    {want: "PutBucketTagging"},
		"not allowed":       {server: fakeS3{refuse: "PutBucketTagging"}, got: "AccessDenied", want: "PutBucketTagging"},
		"control is denied": {server: fakeS3{abac: true, refuse: "TagResource"}, got: "AccessDenied", want: "PutBucketTagging TagResource"},
		"denied by a server of another maker's": {
			server: fakeS3{abac: true, refuse: "TagResource"}, endpoint: "http://s3.local", got: "AccessDenied",
			want: "PutBucketTagging TagResource",
		},
	} {
		f, b := &c.server, object()
		f.exists, f.tags = true, adapter(nil).session.Tags(object(), nil)
		b.Spec.Tags = v1alpha1.Tags{"team": "payments"}
		a := adapter(f)
		a.session.Services.All = c.endpoint
		if got := passOf(t, a, b); got != c.got || tagCalls(f, 0) != c.want {
			t.Errorf("%s: got %q, calls %v, want %q, %s", name, got, f.calls, c.got, c.want)
		}
	}
}

// On a server without S3 Control, the error is what S3 said about the tags, and not that S3 Control is missing.
func TestAServerWithoutS3ControlIsHeard(t *testing.T) {
	for endpoint, want := range map[string]string{"http://s3.local": "BadRequest", "": "MethodNotAllowed"} {
		f := &fakeS3{exists: true, abac: true, noControl: true, tags: map[string]string{}}
		a := adapter(f)
		a.session.Services.All = endpoint
		err := a.target(object()).changeTags(
			t.Context(), nil, cloud.TagChange{Set: map[string]string{"team": "payments"}})
		if cloud.Code(err) != want {
			t.Errorf("endpoint %q: %v, want %s", endpoint, err, want)
		}
	}
}

// A custom endpoint is called unchanged; AWS has a host for each account.
func TestS3ControlGoesToTheEndpointItself(t *testing.T) {
	for base, want := range map[string]string{
		"http://aws.local:4566": "http://aws.local:4566",
		"":                      "https://111122223333.s3-control.eu-west-1.amazonaws.com",
	} {
		session := adapter(nil).session
		session.Services.All = base
		params := s3control.EndpointParameters{
			Region: aws.String("eu-west-1"), AccountId: &session.AccountID,
			RequiresAccountId: aws.Bool(true),
		}
		if base != "" {
			params.Endpoint = &base
		}
		got, err := controlFor(session).Options().EndpointResolverV2.ResolveEndpoint(t.Context(), params)
		if err != nil || got.URI.String() != want {
			t.Errorf("%q: %s, %v, want %s", base, got.URI.String(), err, want)
		}
	}
}

// The command that restores lost ownership tags keeps other tags, and uses the API that holds the bucket's tags, as the
// bucket's owner.
func TestTheCommandThatRestoresMarks(t *testing.T) {
	marks := cloud.TagText(adapter(nil).session.Identity.OwnershipTags(object()))
	const elsewhere = "https://minio.example.com:9000"
	for name, x := range map[string]struct {
		change func(bucket)
		want   string
	}{
		"of S3": {
			func(bucket) {},
			`aws s3api put-bucket-tagging --bucket mine --tagging '{"TagSet":[{"Key":"made-by","Value":"hand"},` +
				marks[1:] +
				`}' --expected-bucket-owner 111122223333 --region eu-west-1`,
		},
		"of S3 Control, which S3 left the tags to": {
			func(b bucket) { b.tagging.byControl.Store("mine", true) },
			`aws s3control tag-resource --account-id 111122223333 --resource-arn arn:aws:s3:::mine --tags '` + marks +
				`' --region eu-west-1`,
		},
		"where the server knows other owners": {
			func(b bucket) {
				b.session.Stated, b.session.Services = true, cloud.Services{Own: map[string]string{"S3": elsewhere}}
			},
			`aws s3api put-bucket-tagging --bucket mine --tagging '{"TagSet":[{"Key":"made-by","Value":"hand"},` +
				marks[1:] +
				`}' --region eu-west-1 --endpoint-url ` + elsewhere,
		},
	} {
		a, obj := adapter(&fakeS3{}), object()
		x.change(a)
		obj.Status.BucketName, obj.Status.AccountID = "mine", "111122223333"
		if got := a.RestoreCommand(obj, &bucketState{tags: map[string]string{"made-by": "hand"}}); got != x.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, x.want)
		}
	}
}
