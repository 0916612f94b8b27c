//go:build integration

package mototest_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/portico-platform/portico/test/awsproxy"
)

// standing returns a clock that stops, apart from what later adds, so that a slow machine does not end one of AWS's
// delays in the middle of a test.
func standing(later *time.Duration) (now func() time.Time) {
	start := time.Now()
	return func() time.Time { return start.Add(*later) }
}

// newLaggingWorld returns a proxy with AWS's own delays, and a function that advances its clock.
func newLaggingWorld(t *testing.T) (w *world, pass func(time.Duration)) {
	t.Helper()
	later := time.Duration(0)
	w = newWorld(t, func(o *awsproxy.Options) {
		o.TimeScale, o.Seed, o.Now = 1, 7, standing(&later)
	})
	return w, func(d time.Duration) { later += d }
}

// visible counts the buckets that the client can see, by name and in the list.
func visible(t *testing.T, c *s3.Client, names []string) (n int) {
	t.Helper()
	list, err := c.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	must(t, err)
	for _, name := range names {
		_, err := c.GetBucketVersioning(t.Context(), &s3.GetBucketVersioningInput{Bucket: &name})
		if err != nil {
			wantCode(t, err, "NoSuchBucket")
		}
		if listed := slices.ContainsFunc(list.Buckets, func(b s3types.Bucket) bool {
			return *b.Name == name
		}); listed != (err == nil) {
			t.Errorf("%s: listed is %v, read is %v", name, listed, err)
		}
		if err == nil {
			n++
		}
	}
	return n
}

func TestSomeBucketsShowLater(t *testing.T) {
	w, pass := newLaggingWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	var names []string
	for range 12 {
		names = append(names, create(t, c, "eu-west-1", "kind", "S3Bucket"))
	}
	if n := visible(t, c, names); n == 0 || n == len(names) {
		t.Errorf("%d of %d show at once", n, len(names))
	}
	if n := visible(t, s3.NewFromConfig(config(w.outside, keyOne, "eu-west-1")), names); n != len(names) {
		t.Errorf("outside %d of %d show", n, len(names))
	}
	calm := w.Calm()
	if n := visible(t, c, names); n != len(names) {
		t.Errorf("while it is calm %d of %d show", n, len(names))
	}
	calm()
	pass(2 * time.Minute)
	if n := visible(t, c, names); n != len(names) {
		t.Errorf("after two minutes %d of %d show", n, len(names))
	}
}

// machines returns how many instances the client can see, and how many of those with their tags.
func machines(t *testing.T, c *ec2.Client, ids []string) (shown, tagged int) {
	t.Helper()
	out, err := c.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{
		Filters: []types.Filter{{Name: aws.String("instance-id"), Values: ids}},
	})
	must(t, err)
	for _, r := range out.Reservations {
		shown++
		if len(r.Instances[0].Tags) > 0 {
			tagged++
		}
	}
	return shown, tagged
}

func TestSomeInstancesShowLaterAndTheirTagsLaterStill(t *testing.T) {
	w, pass := newLaggingWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	var ids []string
	byTag := 0
	for range 12 {
		token := unique(t)
		ids = append(ids, run(t, c, runInput(token, types.InstanceTypeT3Micro)))
		byTag += filtered(t, c, "tag:token", token)
	}
	shown, tagged := machines(t, c, ids)
	// an instance that was missing at first may show meanwhile
	if shown == 0 || shown == len(ids) {
		t.Fatalf("at once %d show, %d with tags, and %d are found by them", shown, tagged, byTag)
	}
	if tagged == 0 || tagged >= shown {
		t.Errorf("at once %d show, %d with tags, and %d are found by them", shown, tagged, byTag)
	}
	if byTag > tagged {
		t.Errorf("at once %d show, %d with tags, and %d are found by them", shown, tagged, byTag)
	}
	pass(5 * time.Minute)
	if shown, tagged = machines(t, c, ids); shown != len(ids) || tagged != len(ids) {
		t.Errorf("after five minutes %d show, %d with tags", shown, tagged)
	}
}

// TestChangedTagsOfAnInstanceShowLater changes the tags of old instances: for some, descriptions still show the
// former tags, and searches do not find the new ones.
func TestChangedTagsOfAnInstanceShowLater(t *testing.T) {
	w, pass := newLaggingWorld(t)
	c, behind := w.ec2(keyOne, "eu-west-1"), ec2.NewFromConfig(config(w.outside, keyOne, "eu-west-1"))
	var ids, tokens []string
	for range 8 {
		tokens = append(tokens, unique(t))
		ids = append(ids, run(t, c, runInput(tokens[len(ids)], types.InstanceTypeT3Micro)))
	}
	pass(5 * time.Minute)
	for _, id := range ids {
		_, err := c.CreateTags(t.Context(), &ec2.CreateTagsInput{
			Resources: []string{id}, Tags: []types.Tag{{Key: aws.String("life"), Value: aws.String("second")}},
		})
		must(t, err)
	}
	look := func(c *ec2.Client) (changed, found int) {
		for i, id := range ids {
			tags := map[string]string{}
			for _, tag := range instanceOf(t, c, id).Tags {
				tags[*tag.Key] = *tag.Value
			}
			if tags["token"] != tokens[i] {
				t.Errorf("%s shows %v, which it never had", id, tags)
			}
			found += filtered(t, c, "tag:token", tokens[i])
			if tags["life"] == "second" {
				changed++
			}
		}
		return changed, found
	}
	if changed, found := look(c); changed == 0 || changed == len(ids) || found != changed {
		t.Errorf("at once %d of %d show, and %d are found", changed, len(ids), found)
	}
	if changed, found := look(behind); changed != len(ids) || found != len(ids) {
		t.Errorf("outside %d of %d show, and %d are found", changed, len(ids), found)
	}
	pass(5 * time.Minute)
	if changed, found := look(c); changed != len(ids) || found != len(ids) {
		t.Errorf("after five minutes %d of %d show, and %d are found", changed, len(ids), found)
	}
}

func TestSomeSessionsEndEarly(t *testing.T) {
	w, pass := newLaggingWorld(t)
	var sessions []aws.Credentials
	for range 12 {
		sessions = append(sessions, assume(t, w.sts(keyOne, "eu-west-1"), accountOne))
	}
	alive := func() (n int) {
		for _, c := range sessions {
			_, err := sts.NewFromConfig(configWith(w.operator, c, "eu-west-1")).GetCallerIdentity(
				t.Context(), &sts.GetCallerIdentityInput{})
			if err != nil {
				wantCode(t, err, "ExpiredToken")
				wantStatus(t, err, http.StatusForbidden)
				continue
			}
			n++
		}
		return n
	}
	if n := alive(); n != len(sessions) {
		t.Errorf("%d of %d sessions begin", n, len(sessions))
	}
	pass(14 * time.Minute) // clients sign with the real time, and signatures are valid for this long
	if n := alive(); n == 0 || n == len(sessions) {
		t.Errorf("after 14 minutes %d of %d are left", n, len(sessions))
	}
}
