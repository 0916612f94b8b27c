package s3

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// creations counts the tries to create the bucket.
func creations(f *fakeS3) int {
	return len(slices.DeleteFunc(slices.Clone(f.calls), func(call string) bool { return call != "CreateBucket" }))
}

// remove deletes b and runs the following pass.
func remove(t *testing.T, f *fakeS3, b *v1alpha1.S3Bucket) string {
	t.Helper()
	now := metav1.Now()
	b.DeletionTimestamp = &now
	return pass(t, f, b)
}

func TestABucketIsMadeWithoutTagsWhereTheyAreRefused(t *testing.T) {
	for _, refusal := range []string{"UnsupportedArgument", "MalformedXML", "InvalidArgument"} {
		f, b := &fakeS3{tagless: refusal}, full()
		if got := pass(t, f, b); got != "" || f.tags["portico.dev/uid"] != "uid-1" || f.tags["team"] != "payments" {
			t.Fatalf("%s: got %q, tags %v", refusal, got, f.tags)
		}
		if b.Status.CreatedUnmarked || creations(f) != 2 {
			t.Errorf("%s: noted %t, calls %v", refusal, b.Status.CreatedUnmarked, f.calls)
		}
		if got := remove(t, f, b); got != "" || f.exists {
			t.Errorf("%s: after its deletion: %q, exists %t", refusal, got, f.exists)
		}
	}
	for _, other := range []string{"InvalidTag", "AccessDenied", "InvalidBucketName", "SlowDown"} {
		f := &fakeS3{tagless: other}
		if got := pass(t, f, object()); got == "" || f.exists || creations(f) != 1 {
			t.Errorf("%s: got %q, calls %v", other, got, f.calls)
		}
	}
}

func TestABucketWhoseTagsWereIgnoredIsMarkedAfterwards(t *testing.T) {
	f, b := &fakeS3{ignores: true}, object()
	if got := pass(t, f, b); got != "" || f.tags["portico.dev/uid"] != "uid-1" || b.Status.CreatedUnmarked {
		t.Fatalf("got %q, tags %v, noted %t", got, f.tags, b.Status.CreatedUnmarked)
	}
	f.tags = map[string]string{}
	if got := pass(t, f, b); got == "" || len(f.tags) != 0 {
		t.Errorf("after its tags were seen, a bucket without any is taken: %q, tags %v", got, f.tags)
	}
}

// The record of the creation survives a pass that could not mark the bucket. It is no claim to a bucket that somebody
// else has marked.
func TestWhatWasMadeAndNotMarkedGoesWithItsObject(t *testing.T) {
	for _, theirs := range []map[string]string{nil, {"made-by": "hand"}, {cloud.TagCluster: "another"}} {
		f, b := &fakeS3{ignores: true, refuse: "PutBucketTagging"}, object()
		if got := pass(t, f, b); got != "AccessDenied" || !b.Status.CreatedUnmarked {
			t.Fatalf("got %q, noted %t", got, b.Status.CreatedUnmarked)
		}
		b.Status.LastSyncTime = nil
		f.tags, f.refuse = theirs, ""
		if got := remove(t, f, b); got != "" || f.exists != (theirs != nil) {
			t.Errorf("tags %v: got %q, exists %t", theirs, got, f.exists)
		}
	}
}

// Before anything is written to a bucket without tags, the record that it is ours is saved, and the namespace is read
// once more.
func TestTheNoteIsSavedBeforeTheMarks(t *testing.T) {
	f, b := &fakeS3{ignores: true}, object()
	var saved []bool
	checks := 0
	err := external.Reconciler[*v1alpha1.S3Bucket, bucketState]{
		Kind: "S3Bucket", Stateful: true, Now: func() time.Time { return time.Unix(1000, 0) },
		Connect: func(context.Context, *v1alpha1.S3Bucket) (external.Connection[*v1alpha1.S3Bucket, bucketState],
			error,
		) {
			return external.Connection[*v1alpha1.S3Bucket, bucketState]{
				Adapter: adapter(f), Recheck: func(context.Context) error { checks++; return nil },
			}, nil
		},
	}.Reconcile(t.Context(), b, engine.NewPass(func(context.Context) error {
		saved = append(saved, b.Status.CreatedUnmarked && !slices.Contains(f.calls, "PutBucketTagging"))
		return nil
	}))
	if err != nil || !slices.Equal(saved, []bool{false, true}) || checks != 2 {
		t.Errorf("%v, saved %v, %d checks", err, saved, checks)
	}
}

// Somebody creates the bucket between our read and our call. S3's response proves nothing then, and the bucket is left
// alone.
func TestABucketThatWasThereIsNotTaken(t *testing.T) {
	for name, c := range map[string]struct {
		region, endpoint string
		server           fakeS3
		creations        int
	}{
		"owned":                          {region: "eu-west-1", creations: 1},
		"owned, and tags refused":        {region: "eu-west-1", server: fakeS3{tagless: "MalformedXML"}, creations: 2},
		"us-east-1":                      {region: "us-east-1", server: fakeS3{again: true}, creations: 1},
		"us-east-1, and tags refused":    {region: "us-east-1", server: fakeS3{again: true, tagless: "UnsupportedArgument"}, creations: 3},
		"a server that calls itself so":  {region: "us-east-1", endpoint: "http://s3.local", server: fakeS3{again: true}, creations: 2},
		"one that does not answer 200":   {region: "us-east-1", endpoint: "http://s3.local", creations: 1},
		"one that ignores tags besides":  {region: "us-east-1", endpoint: "http://s3.local", server: fakeS3{again: true, ignores: true}, creations: 2},
		"one that refuses tags besides ": {region: "us-east-1", endpoint: "http://s3.local", server: fakeS3{again: true, tagless: "MalformedXML"}, creations: 3},
	} {
		f, b := &c.server, object()
		f.exists, f.late = true, 1
		a := adapter(f)
		a.session.Config.Region, a.session.Services.All = c.region, c.endpoint
		got := passOf(t, a, b)
		if got != "Settling" || b.Status.CreatedUnmarked || len(f.tags) != 0 {
			t.Errorf("%s: %q, CreatedUnmarked = %t, tags %v, want Settling, false, none", name, got,
				b.Status.CreatedUnmarked, f.tags)
		}
		if creations(f) != c.creations {
			t.Errorf("%s: %d creations in %v, want %d", name, creations(f), f.calls, c.creations)
		}
	}
}

// A server in us-east-1 that refuses to create a bucket twice has created it when it answers 200.
func TestInTheOldestRegionASecondRefusalProvesTheCreation(t *testing.T) {
	for _, f := range []*fakeS3{{ignores: true}, {tagless: "MalformedXML"}} {
		a, b := adapter(f), object()
		a.session.Config.Region, a.session.Services.All = "us-east-1", "http://s3.local"
		if got := passOf(t, a, b); got != "" || f.tags["portico.dev/uid"] != "uid-1" {
			t.Errorf("got %q, tags %v", got, f.tags)
		}
	}
}

// A server with another owner than STS reports answers 403 about the bucket that it has just created: another name
// would not help.
func TestABucketOfOursThatIsDeniedIsNotCalledAnothers(t *testing.T) {
	b := object()
	b.Status.CreatedUnmarked = true
	_, err := adapter(&fakeS3{fail: code("AccessDenied")}).Observe(t.Context(), b)
	wait, ok := engine.AsWait(err)
	if !ok || wait.Reason != "AccessDenied" {
		t.Fatalf("error = %v, want AccessDenied", err)
	}
	if want := "not the account 111122223333"; !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want %q in it", err, want)
	}
	if strings.Contains(err.Error(), "request another") {
		t.Errorf("error = %v, want no advice to request another", err)
	}
}

// An account that nobody has verified is not sent as the expected owner: the server may know another one.
func TestAStatedAccountIsNoOwner(t *testing.T) {
	for _, stated := range []bool{false, true} {
		a := adapter(&fakeS3{})
		a.session.Stated = stated
		if got := a.target(object()); (got.account == nil) != stated || *got.accountID != "111122223333" {
			t.Errorf("stated %v: expected owner %v", stated, got.account)
		}
	}
}

// MinIO answers the same for a bucket that does not exist as for one without tags. The bucket is still created, and not
// reported as another's.
func TestABucketThatIsNotThereIsNotOneWithoutTags(t *testing.T) {
	for name, f := range map[string]*fakeS3{"it is not there": {}, "no versioning is known": {
		exists: true, lacks: "GetBucketVersioning",
	}} {
		f.tagsAnyName = true
		a, b, there := adapter(f), object(), f.exists
		a.session.Services.Own = map[string]string{"S3": "http://s3.local"}
		seen, err := a.Observe(t.Context(), b)
		if err != nil || (seen != nil) != there {
			t.Errorf("%s: %+v, %v", name, seen, err)
		}
	}
	f := &fakeS3{tagsAnyName: true}
	a, b := adapter(f), object()
	a.session.Services.Own = map[string]string{"S3": "http://s3.local"}
	if got := passOf(t, a, b); got != "" || f.tags["portico.dev/uid"] != "uid-1" {
		t.Errorf("got %q, tags %v, calls %v", got, f.tags, f.calls)
	}
	if f.calls = nil; passOf(t, a, b) != "" || len(f.calls) != 1 {
		t.Errorf("at rest it is asked %v", f.calls)
	}
}
