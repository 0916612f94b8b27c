//go:build integration

package integration

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// tagCalls are the calls with which others read and change the tags of one kind's resources.
type tagCalls struct {
	read func(*testing.T, external.Object) map[string]string
	// replace makes these the only tags, as scripts do.
	replace func(*testing.T, external.Object, map[string]string) error
	// command is the AWS CLI command that sets tags, and run does what it does with its flags.
	command string
	run     func(*testing.T, map[string]string) error
}

// replacing returns a replace function for APIs that can only set and remove tags.
func replacing(read func(*testing.T, external.Object) map[string]string,
	set func(*testing.T, external.Object, map[string]string) error,
	remove func(*testing.T, external.Object, []string) error,
) func(*testing.T, external.Object, map[string]string) error {
	return func(t *testing.T, o external.Object, tags map[string]string) error {
		t.Helper()
		left := read(t, o)
		maps.DeleteFunc(left, func(key, _ string) bool { _, stays := tags[key]; return stays })
		if err := set(t, o, tags); err != nil {
			return err
		}
		return remove(t, o, slices.Sorted(maps.Keys(left)))
	}
}

// parsed decodes the JSON value of a flag, as the AWS CLI does, whose members have the same names as the SDK's.
func parsed[T any](t *testing.T, text string) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

var bucketTagging = tagCalls{
	read: func(t *testing.T, o external.Object) map[string]string {
		t.Helper()
		return tagsOf(t, outside(t, "test"), o.(*v1alpha1.S3Bucket).Status.BucketName)
	},
	replace: func(t *testing.T, o external.Object, tags map[string]string) error {
		t.Helper()
		set := cloud.TagList(tags, func(key, value *string) s3types.Tag { return s3types.Tag{Key: key, Value: value} })
		_, err := outside(t, "test").PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{
			Bucket: &o.(*v1alpha1.S3Bucket).Status.BucketName, Tagging: &s3types.Tagging{TagSet: set},
		})
		return err
	},
	command: "s3api put-bucket-tagging",
	run: func(t *testing.T, flags map[string]string) error {
		t.Helper()
		_, err := outside(t, "test").PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{
			Bucket: aws.String(flags["bucket"]), ExpectedBucketOwner: aws.String(flags["expected-bucket-owner"]),
			Tagging: parsed[*s3types.Tagging](t, flags["tagging"]),
		})
		return err
	},
}

func queueTags(t *testing.T, o external.Object) map[string]string {
	t.Helper()
	out, err := queueAPI(t).ListQueueTags(
		t.Context(), &sqs.ListQueueTagsInput{QueueUrl: &o.(*v1alpha1.SQSQueue).Status.QueueURL})
	if err != nil {
		t.Fatal(err)
	}
	return out.Tags
}

var queueTagging = tagCalls{
	read: queueTags,
	replace: replacing(queueTags, func(t *testing.T, o external.Object, tags map[string]string) error {
		t.Helper()
		_, err := queueAPI(t).TagQueue(
			t.Context(), &sqs.TagQueueInput{QueueUrl: &o.(*v1alpha1.SQSQueue).Status.QueueURL, Tags: tags})
		return err
	}, func(t *testing.T, o external.Object, keys []string) error {
		t.Helper()
		_, err := queueAPI(t).UntagQueue(
			t.Context(), &sqs.UntagQueueInput{QueueUrl: &o.(*v1alpha1.SQSQueue).Status.QueueURL, TagKeys: keys})
		return err
	}),
	command: "sqs tag-queue",
	run: func(t *testing.T, flags map[string]string) error {
		t.Helper()
		_, err := queueAPI(t).TagQueue(t.Context(), &sqs.TagQueueInput{
			QueueUrl: aws.String(flags["queue-url"]),
			Tags:     parsed[map[string]string](t, flags["tags"]),
		})
		return err
	},
}

func topicTags(t *testing.T, o external.Object) map[string]string {
	t.Helper()
	out, err := topicClient(t).ListTagsForResource(t.Context(), &sns.ListTagsForResourceInput{ResourceArn: topicARN(o)})
	if err != nil {
		t.Fatal(err)
	}
	return cloud.TagMap(out.Tags, func(tag snstypes.Tag) (key, value *string) { return tag.Key, tag.Value })
}

var topicTagging = tagCalls{
	read: topicTags,
	replace: replacing(topicTags, func(t *testing.T, o external.Object, tags map[string]string) error {
		t.Helper()
		list := cloud.TagList(tags, func(key, value *string) snstypes.Tag {
			return snstypes.Tag{Key: key, Value: value}
		})
		_, err := topicClient(t).TagResource(t.Context(), &sns.TagResourceInput{ResourceArn: topicARN(o), Tags: list})
		return err
	}, func(t *testing.T, o external.Object, keys []string) error {
		t.Helper()
		_, err := topicClient(t).UntagResource(
			t.Context(), &sns.UntagResourceInput{ResourceArn: topicARN(o), TagKeys: keys})
		return err
	}),
	command: "sns tag-resource",
	run: func(t *testing.T, flags map[string]string) error {
		t.Helper()
		_, err := topicClient(t).TagResource(t.Context(), &sns.TagResourceInput{
			ResourceArn: aws.String(flags["resource-arn"]), Tags: parsed[[]snstypes.Tag](t, flags["tags"]),
		})
		return err
	},
}

func machineTags(t *testing.T, o external.Object) map[string]string {
	t.Helper()
	for _, i := range machinesWith(t, "instance-id", o.(*v1alpha1.EC2Instance).Status.InstanceID) {
		return cloud.TagMap(i.Tags, func(tag ec2types.Tag) (key, value *string) { return tag.Key, tag.Value })
	}
	return nil
}

var machineTagging = tagCalls{
	read: machineTags,
	replace: replacing(machineTags, func(t *testing.T, o external.Object, tags map[string]string) error {
		t.Helper()
		list := cloud.TagList(tags, func(key, value *string) ec2types.Tag {
			return ec2types.Tag{Key: key, Value: value}
		})
		_, err := outsideEC2(t).CreateTags(
			t.Context(), &ec2.CreateTagsInput{
				Resources: []string{o.(*v1alpha1.EC2Instance).Status.InstanceID},
				Tags:      list,
			})
		return err
	}, func(t *testing.T, o external.Object, keys []string) error {
		t.Helper()
		in := &ec2.DeleteTagsInput{Resources: []string{o.(*v1alpha1.EC2Instance).Status.InstanceID}}
		for _, key := range keys {
			in.Tags = append(in.Tags, ec2types.Tag{Key: &key})
		}
		_, err := outsideEC2(t).DeleteTags(t.Context(), in)
		return err
	}),
	command: "ec2 create-tags",
	run: func(t *testing.T, flags map[string]string) error {
		t.Helper()
		_, err := outsideEC2(t).CreateTags(t.Context(), &ec2.CreateTagsInput{
			Resources: []string{flags["resources"]},
			Tags:      parsed[[]ec2types.Tag](t, flags["tags"]),
		})
		return err
	},
}

func databaseTags(t *testing.T, o external.Object) map[string]string {
	t.Helper()
	if db := inRDS(t, o.(*v1alpha1.RDSInstance)); db != nil {
		return cloud.TagMap(db.TagList, func(tag rdstypes.Tag) (key, value *string) { return tag.Key, tag.Value })
	}
	return nil
}

var databaseTagging = tagCalls{
	read: databaseTags,
	replace: replacing(databaseTags, func(t *testing.T, o external.Object, tags map[string]string) error {
		t.Helper()
		list := cloud.TagList(tags, func(key, value *string) rdstypes.Tag {
			return rdstypes.Tag{Key: key, Value: value}
		})
		_, err := outsideRDS(t).AddTagsToResource(t.Context(), &rds.AddTagsToResourceInput{
			ResourceName: &o.(*v1alpha1.RDSInstance).Status.ARN, Tags: list,
		})
		return err
	}, func(t *testing.T, o external.Object, keys []string) error {
		t.Helper()
		_, err := outsideRDS(t).RemoveTagsFromResource(t.Context(), &rds.RemoveTagsFromResourceInput{
			ResourceName: &o.(*v1alpha1.RDSInstance).Status.ARN, TagKeys: keys,
		})
		return err
	}),
	command: "rds add-tags-to-resource",
	run: func(t *testing.T, flags map[string]string) error {
		t.Helper()
		_, err := outsideRDS(t).AddTagsToResource(t.Context(), &rds.AddTagsToResourceInput{
			ResourceName: aws.String(flags["resource-name"]), Tags: parsed[[]rdstypes.Tag](t, flags["tags"]),
		})
		return err
	},
}
