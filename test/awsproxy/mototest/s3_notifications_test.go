//go:build integration

package mototest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const toS3 = `"Effect":"Allow","Principal":{"Service":"s3.amazonaws.com"},"Action":"sqs:SendMessage"`

// fromBucket returns the conditions that S3's guide recommends for a bucket of account one.
func fromBucket(bucket string) string {
	return `"ArnLike":{"aws:SourceArn":"arn:aws:s3:::` + bucket + `"},"StringEquals":{"aws:SourceAccount":"` +
		accountOne + `"}`
}

// rule returns a rule that notifies a queue; parts are a prefix and a suffix.
func rule(id, queue string, event s3types.Event, parts ...string) s3types.QueueConfiguration {
	r := s3types.QueueConfiguration{QueueArn: &queue, Events: []s3types.Event{event}}
	if id != "" {
		r.Id = &id
	}
	for i, name := range []s3types.FilterRuleName{"prefix", "suffix"}[:len(parts)] {
		if r.Filter == nil {
			r.Filter = &s3types.NotificationConfigurationFilter{Key: &s3types.S3KeyFilter{}}
		}
		r.Filter.Key.FilterRules = append(r.Filter.Key.FilterRules, s3types.FilterRule{Name: name, Value: &parts[i]})
	}
	return r
}

func (w *world) putRules(t *testing.T, bucket string, change func(*s3.PutBucketNotificationConfigurationInput),
	rules ...s3types.QueueConfiguration,
) error {
	t.Helper()
	in := &s3.PutBucketNotificationConfigurationInput{
		Bucket:                    &bucket,
		NotificationConfiguration: &s3types.NotificationConfiguration{QueueConfigurations: rules},
	}
	if change != nil {
		change(in)
	}
	_, err := w.s3(keyOne, "eu-west-1").PutBucketNotificationConfiguration(t.Context(), in)
	return err
}

// openQueue creates a queue that allows the bucket to send.
func (w *world) openQueue(t *testing.T, bucket string) (url, arn string) {
	t.Helper()
	url, arn = w.queue(t, keyOne)
	must(t, w.setQueue(t, keyOne, url, map[string]string{"Policy": policyOf(on(toS3, arn, fromBucket(bucket)))}))
	return url, arn
}

func TestDestinationsAreValidated(t *testing.T) {
	w := newWorld(t)
	bucket := create(t, w.s3(keyOne, "eu-west-1"), "eu-west-1")
	with := func(statement string) string {
		url, arn := w.queue(t, keyOne)
		must(t, w.setQueue(t, keyOne, url, map[string]string{"Policy": policyOf(strings.ReplaceAll(statement, "QUEUE",
			arn))}))
		return arn
	}
	url, open := w.openQueue(t, bucket)
	_, shut := w.queue(t, keyOne)
	fifo := unique(t) + ".fifo"
	_, fifoARN := w.queueNamed(t, keyOne, fifo, map[string]string{"FifoQueue": "true", "Policy": policyOf(on(toS3,
		"*"))})
	keyURL, secret := w.openQueue(t, bucket)
	must(t, w.setQueue(t, keyOne, keyURL, map[string]string{"KmsMasterKeyId": "alias/aws/sqs"}))
	const unable = "Unable to validate the following destination configurations"
	for name, tc := range map[string]struct{ queue, message string }{
		"open":                {open, ""},
		"everybody by bucket": {with(on(strings.Replace(toS3, `{"Service":"s3.amazonaws.com"}`, `"*"`, 1), "QUEUE", fromBucket(bucket))), ""},
		"shut":                {shut, unable},
		"nowhere":             {open + "-nowhere", unable},
		"a FIFO queue":        {fifoARN, unable},
		"for another bucket":  {with(on(toS3, "QUEUE", fromBucket("other"))), unable},
		"for another account": {with(on(toS3, "QUEUE",
			strings.Replace(fromBucket(bucket), accountOne, accountTwo, 1))), unable},
		"for another service":    {with(on(toSNS, "QUEUE", fromBucket(bucket))), unable},
		"denied to buckets":      {with(on(toS3, "QUEUE") + `},{` + on(strings.Replace(toS3, "Allow", "Deny", 1), "QUEUE", fromBucket(bucket))), unable},
		"with a key of AWS's":    {secret, unable},
		"in another region":      {strings.Replace(open, "eu-west-1", "us-east-1", 1), "region is not valid"},
		"an ARN that is no such": {"orders", ""},
	} {
		err := w.putRules(t, bucket, nil, rule("", tc.queue, "s3:ObjectCreated:*"))
		if name == "an ARN that is no such" {
			wantCode(t, err, "MalformedXML")
			continue
		}
		t.Run(name, func(t *testing.T) { wantInvalidArgument(t, err, tc.message) })
	}
	must(t, w.putRules(t, bucket, nil, rule("", open, "s3:ObjectCreated:*")))
	if got := w.received(t, keyOne, url); len(got) != 2 || !strings.Contains(got[0], `"Event": "s3:TestEvent"`) ||
		!strings.Contains(got[0], bucket) {
		t.Errorf("received %q, want a test event for each time", got)
	}
	must(t, w.putRules(t, bucket,
		func(in *s3.PutBucketNotificationConfigurationInput) { in.SkipDestinationValidation = aws.Bool(true) },
		rule("", shut, "s3:ObjectCreated:*")))
}

func TestRulesOfABucketMustNotOverlap(t *testing.T) {
	w := newWorld(t)
	bucket := create(t, w.s3(keyOne, "eu-west-1"), "eu-west-1")
	_, a := w.openQueue(t, bucket)
	const created, put, removed = "s3:ObjectCreated:*", "s3:ObjectCreated:Put", "s3:ObjectRemoved:*"
	for name, tc := range map[string]struct {
		rules   []s3types.QueueConfiguration
		message string
	}{
		"none":         {nil, ""},
		"other events": {[]s3types.QueueConfiguration{rule("", a, created), rule("", a, removed)}, ""},
		"other prefixes": {[]s3types.QueueConfiguration{
			rule("a", a, created, "in/"),
			rule("b", a, created, "out/"),
		}, ""},
		"one prefix, two suffixes": {[]s3types.QueueConfiguration{
			rule("a", a, created, "in/", ".jpg"),
			rule("b", a, put, "in/", ".png"),
		}, ""},
		"the same event": {
			[]s3types.QueueConfiguration{rule("", a, created), rule("", a, created)},
			"Configurations overlap. Configurations on the same bucket cannot share a common event type.",
		},
		"an event of the family": {
			[]s3types.QueueConfiguration{rule("", a, put), rule("", a, created)},
			"Configurations overlap",
		},
		"a prefix and none": {
			[]s3types.QueueConfiguration{rule("", a, created, "in/"), rule("", a, created)},
			"ambiguously defined",
		},
		"a prefix within the other": {[]s3types.QueueConfiguration{
			rule("", a, created, "in/a"),
			rule("", a, put, "in/"),
		}, "ambiguously defined"},
		"suffixes within": {[]s3types.QueueConfiguration{
			rule("", a, created, "in/", "jpg"),
			rule("", a, put, "in/", "pg"),
		}, "ambiguously defined"},
		"one ID": {
			[]s3types.QueueConfiguration{rule("a", a, created), rule("a", a, removed)},
			"IDs must be unique",
		},
		"two prefixes": {
			[]s3types.QueueConfiguration{twice(rule("", a, created, "in/"))},
			"more than one prefix",
		},
		"an event that is none": {
			[]s3types.QueueConfiguration{rule("", a, "s3:ObjectInvented:*")},
			"not supported",
		},
	} {
		err := w.putRules(t, bucket, nil, tc.rules...)
		t.Run(name, func(t *testing.T) { wantInvalidArgument(t, err, tc.message) })
	}
}

func twice(r s3types.QueueConfiguration) s3types.QueueConfiguration {
	r.Filter.Key.FilterRules = append(r.Filter.Key.FilterRules, r.Filter.Key.FilterRules...)
	return r
}

// TestNotificationsAreReadAsTheyWerePut checks that reading returns the configuration that was put, with the names of
// filters as S3 writes them.
func TestNotificationsAreReadAsTheyWerePut(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1")
	_, a := w.openQueue(t, bucket)
	topic := w.topic(t)
	both := func() error {
		return w.putRules(t, bucket, func(in *s3.PutBucketNotificationConfigurationInput) {
			in.NotificationConfiguration.EventBridgeConfiguration = &s3types.EventBridgeConfiguration{}
			in.NotificationConfiguration.TopicConfigurations = []s3types.TopicConfiguration{{
				Id:       aws.String("t"),
				TopicArn: &topic, Events: []s3types.Event{"s3:ObjectRemoved:*"},
			}}
		}, rule("q", a, "s3:ObjectCreated:*", "in/", ".jpg"))
	}
	wantCode(t, both(), "InvalidArgument") // the policy that SNS gives a new topic does not allow S3
	must(
		t, w.setTopic(t, topic, policyOf(
			on(strings.Replace(publish, `{"AWS":"*"}`, `{"Service":"s3.amazonaws.com"}`, 1),
				topic, fromBucket(bucket)))))
	must(t, both())
	got, err := c.GetBucketNotificationConfiguration(t.Context(),
		&s3.GetBucketNotificationConfigurationInput{Bucket: &bucket})
	must(t, err)
	if got.EventBridgeConfiguration == nil || len(got.TopicConfigurations) != 1 {
		t.Fatalf("%+v", got)
	}
	if *got.TopicConfigurations[0].TopicArn != topic || len(got.QueueConfigurations) != 1 {
		t.Fatalf("%+v", got)
	}
	q := got.QueueConfigurations[0]
	if *q.Id != "q" || *q.QueueArn != a {
		t.Errorf("%+v", q)
	}
	if !slices.Equal(q.Events, []s3types.Event{"s3:ObjectCreated:*"}) || q.Filter.Key.FilterRules[0].Name != "Prefix" {
		t.Errorf("%+v", q)
	}
	if *q.Filter.Key.FilterRules[1].Value != ".jpg" {
		t.Errorf("%+v", q)
	}
	must(t, w.putRules(t, bucket, nil))
	got, err = c.GetBucketNotificationConfiguration(t.Context(),
		&s3.GetBucketNotificationConfigurationInput{Bucket: &bucket})
	must(t, err)
	if got.EventBridgeConfiguration != nil || len(got.QueueConfigurations)+len(got.TopicConfigurations) > 0 {
		t.Errorf("after the removal %+v", got)
	}
}

// events returns names and keys of the events that a queue received, without test events.
func (w *world) events(t *testing.T, url string) []string {
	t.Helper()
	all := []string{}
	for _, body := range w.received(t, keyOne, url) {
		var event struct {
			Records []struct {
				EventName, EventSource string
				S3                     struct {
					Bucket struct{ Name string }
					Object struct{ Key string }
				}
			}
		}
		must(t, json.Unmarshal([]byte(body), &event))
		for _, r := range event.Records {
			all = append(all, r.EventName+" "+r.S3.Object.Key)
		}
	}
	slices.Sort(all)
	return all
}

// TestEventsArriveWhereTheyAreLetIn checks that events of objects arrive only while the queue allows the bucket to
// send, also through a topic, and that another bucket's do not.
func TestEventsArriveWhereTheyAreLetIn(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket, other := create(t, c, "eu-west-1"), create(t, c, "eu-west-1")
	url, queue := w.openQueue(t, bucket)
	topic := w.topic(t)
	must(
		t, w.setTopic(t, topic, policyOf(
			on(strings.Replace(publish, `{"AWS":"*"}`, `{"Service":"s3.amazonaws.com"}`, 1),
				topic, fromBucket(bucket)))))
	heardURL, heard := w.queue(t, keyOne)
	w.subscribe(t, topic, heard)
	must(t, w.setQueue(t, keyOne, heardURL, map[string]string{"Policy": policyOf(on(toSNS, heard))}))
	must(t, w.putRules(t, bucket, func(in *s3.PutBucketNotificationConfigurationInput) {
		in.NotificationConfiguration.TopicConfigurations = []s3types.TopicConfiguration{{
			TopicArn: &topic,
			Events:   []s3types.Event{"s3:ObjectRemoved:*"},
		}}
	}, rule("", queue, "s3:ObjectCreated:*", "in/", ".txt")))
	must(t, w.putRules(t, other,
		func(in *s3.PutBucketNotificationConfigurationInput) { in.SkipDestinationValidation = aws.Bool(true) },
		rule("", queue, "s3:ObjectCreated:*")))
	put := func(bucket, key string) {
		_, err := c.PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: &bucket, Key: &key,
			Body: strings.NewReader("text"),
		})
		must(t, err)
	}
	put(bucket, "in/a b.txt")
	put(bucket, "in/a.jpg")
	put(bucket, "out/a.txt")
	put(other, "in/a.txt")
	_, err := c.CopyObject(t.Context(), &s3.CopyObjectInput{
		Bucket: &bucket, Key: aws.String("in/copy.txt"),
		CopySource: aws.String(bucket + "/out/a.txt"),
	})
	must(t, err)
	_, err = c.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String("in/copy.txt")})
	must(t, err)
	_, err = c.DeleteObjects(t.Context(), &s3.DeleteObjectsInput{
		Bucket: &bucket,
		Delete: &s3types.Delete{Objects: []s3types.ObjectIdentifier{{Key: aws.String("in/a.jpg")}}},
	})
	must(t, err)
	if got, want := w.events(t, url), []string{
		"ObjectCreated:Copy in/copy.txt",
		"ObjectCreated:Put in/a+b.txt",
	}; !slices.Equal(got, want) {
		t.Errorf("the queue received %q, want %q", got, want)
	}
	if got, want := w.events(t, heardURL), []string{
		"ObjectRemoved:Delete in/a.jpg",
		"ObjectRemoved:Delete in/copy.txt",
	}; !slices.Equal(got, want) {
		t.Errorf("the queue of the topic received %q, want %q", got, want)
	}
	must(t, w.setQueue(t, keyOne, url, map[string]string{"Policy": ""}))
	must(t, w.setTopic(t, topic, policyOf(on(publish, topic, `"StringEquals":{"aws:SourceAccount":"`+accountTwo+`"}`))))
	put(bucket, "in/dropped.txt")
	_, err = c.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String("in/dropped.txt")})
	must(t, err)
	if got, more := w.events(t, url), w.events(t, heardURL); len(got)+len(more) != 0 {
		t.Errorf("received %q and %q", got, more)
	}
}

// TestEventsOfVersions checks that a bucket with versioning sends events of delete markers, and that each event names
// the version.
func TestEventsOfVersions(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1")
	_, err := c.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
		Bucket:                  &bucket,
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: "Enabled"},
	})
	must(t, err)
	url, queue := w.openQueue(t, bucket)
	must(t, w.putRules(t, bucket, nil, rule("", queue, "s3:ObjectRemoved:*")))
	w.received(t, keyOne, url)
	key := aws.String("a")
	made, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: key})
	must(t, err)
	marked, err := c.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: key})
	must(t, err)
	_, err = c.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: key, VersionId: made.VersionId})
	must(t, err)
	got := strings.Join(w.received(t, keyOne, url), "\n")
	for _, part := range []string{
		"ObjectRemoved:DeleteMarkerCreated", *marked.VersionId, `"ObjectRemoved:Delete"`,
		*made.VersionId, `"ownerIdentity"`, `"sequencer"`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is missing in\n%s", part, got)
		}
	}
	if strings.Contains(got, `"eTag"`) {
		t.Errorf("a deletion has an ETag in\n%s", got)
	}
}

// wantInvalidArgument fails unless S3 returns InvalidArgument with the message, or no error for an empty message.
func wantInvalidArgument(t *testing.T, err error, message string) {
	t.Helper()
	if message == "" {
		must(t, err)
		return
	}
	wantCode(t, err, "InvalidArgument")
	if !strings.Contains(err.Error(), message) {
		t.Error(err)
	}
}
