//go:build integration

package mototest_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awslimits"
)

// TestTheProxyRefusesWhatAWSRefuses checks each row of docs/aws-limits.md with calls of the SDK, once with the bad
// value and once without.
func TestTheProxyRefusesWhatAWSRefuses(t *testing.T) {
	w := newWorld(t)
	play := map[string]func(*testing.T, *world, map[string]any) error{
		v1alpha1.KindRDSInstance: createsDatabase, v1alpha1.KindS3Bucket: setsBucket,
		v1alpha1.KindSQSQueue: createsQueue,
		v1alpha1.KindSNSTopic: createsTopic, v1alpha1.KindEC2Instance: launches,
	}
	for kind, call := range play {
		must(t, call(t, w, nil))
		for _, row := range awslimits.Rows() {
			if row.Kind != kind {
				continue
			}
			t.Run(row.Name, func(t *testing.T) {
				if _, refused := errors.AsType[smithy.APIError](call(t, w, row.Spec)); !refused {
					t.Error("it is taken")
				}
			})
		}
	}
}

// read sets the fields of a kind's spec from a row.
func read(t *testing.T, row map[string]any, spec any) {
	t.Helper()
	text, err := json.Marshal(row)
	must(t, err)
	must(t, json.Unmarshal(text, spec))
}

func createsDatabase(t *testing.T, w *world, row map[string]any) error {
	t.Helper()
	spec := v1alpha1.RDSInstanceSpec{
		Engine: "postgres", DBInstanceClass: "db.t4g.micro", AllocatedStorage: 20,
		MasterUsername: "owner",
	}
	read(t, row, &spec)
	in := database(unique(t))
	in.EngineVersion, in.Port, in.EnablePerformanceInsights = nil, spec.Port, nil
	in.Engine, in.DBInstanceClass, in.MasterUsername = &spec.Engine, &spec.DBInstanceClass, &spec.MasterUsername
	in.AllocatedStorage, in.Iops, in.StorageThroughput = &spec.AllocatedStorage, spec.IOPS, spec.StorageThroughput
	in.StorageType, in.DBName = text(spec.StorageType), text(spec.DBName)
	in.PreferredBackupWindow, in.PreferredMaintenanceWindow = text(spec.PreferredBackupWindow),
		text(spec.PreferredMaintenanceWindow)
	for key, value := range spec.Tags {
		in.Tags = append(in.Tags, rdstypes.Tag{Key: &key, Value: aws.String(string(value))})
	}
	return failed(w.rds().CreateDBInstance(t.Context(), in))
}

// text returns nil for a field that is left out.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func setsBucket(t *testing.T, w *world, row map[string]any) (err error) {
	t.Helper()
	spec := v1alpha1.S3BucketSpec{}
	read(t, row, &spec)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1")
	for _, rule := range spec.LifecycleRules {
		moves := s3types.LifecycleRule{Status: s3types.ExpirationStatusEnabled, Filter: &s3types.LifecycleRuleFilter{
			Prefix: aws.String(""),
		}}
		for _, m := range rule.Transitions {
			moves.Transitions = append(
				moves.Transitions, s3types.Transition{Days: &m.Days, StorageClass: s3types.TransitionStorageClass(
					m.StorageClass)})
		}
		err = failed(c.PutBucketLifecycleConfiguration(t.Context(), &s3.PutBucketLifecycleConfigurationInput{
			Bucket: &bucket, LifecycleConfiguration: &s3types.BucketLifecycleConfiguration{
				Rules: []s3types.LifecycleRule{moves},
			},
		}))
	}
	for _, rule := range spec.CORSRules {
		err = failed(c.PutBucketCors(
			t.Context(), &s3.PutBucketCorsInput{Bucket: &bucket, CORSConfiguration: &s3types.CORSConfiguration{
				CORSRules: []s3types.CORSRule{{
					AllowedOrigins: rule.AllowedOrigins, AllowedMethods: rule.AllowedMethods,
					AllowedHeaders: rule.AllowedHeaders, ExposeHeaders: rule.ExposeHeaders,
				}},
			}}))
	}
	for key, value := range spec.Tags {
		err = failed(c.PutBucketTagging(t.Context(), tagging(bucket, key, string(value))))
	}
	if spec.Policy != "" {
		err = failed(c.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: &bucket, Policy: &spec.Policy}))
	}
	return err
}

func createsQueue(t *testing.T, w *world, row map[string]any) error {
	t.Helper()
	spec := v1alpha1.SQSQueueSpec{}
	read(t, row, &spec)
	in := &sqs.CreateQueueInput{
		QueueName: aws.String(unique(t)), Attributes: map[string]string{},
		Tags: map[string]string{},
	}
	if spec.FIFOQueue {
		in.QueueName, in.Attributes["FifoQueue"] = aws.String(*in.QueueName+".fifo"), "true"
	}
	if spec.Policy != "" {
		in.Attributes["Policy"] = spec.Policy
	}
	if dead := spec.DeadLetterQueue; dead != nil {
		in.Attributes["RedrivePolicy"] = `{"deadLetterTargetArn":"` + dead.TargetARN + `","maxReceiveCount":3}`
	}
	for key, value := range spec.Tags {
		in.Tags[key] = string(value)
	}
	return failed(w.sqs(keyOne, "eu-west-1").CreateQueue(t.Context(), in))
}

func createsTopic(t *testing.T, w *world, row map[string]any) error {
	t.Helper()
	spec := v1alpha1.SNSTopicSpec{}
	read(t, row, &spec)
	in := &sns.CreateTopicInput{Name: aws.String(unique(t)), Attributes: map[string]string{}}
	if spec.Policy != "" {
		in.Attributes["Policy"] = spec.Policy
	}
	for key, value := range spec.Tags {
		in.Tags = append(in.Tags, snstypes.Tag{Key: &key, Value: aws.String(string(value))})
	}
	c := w.sns(keyOne)
	made, err := c.CreateTopic(t.Context(), in)
	for _, s := range spec.Subscriptions {
		return failed(c.Subscribe(t.Context(), &sns.SubscribeInput{
			TopicArn: made.TopicArn, Protocol: aws.String("sqs"),
			Endpoint:   aws.String("arn:aws:sqs:eu-west-1:" + accountOne + ":orders"),
			Attributes: map[string]string{"FilterPolicy": s.FilterPolicy},
		}))
	}
	return err
}

func launches(t *testing.T, w *world, row map[string]any) error {
	t.Helper()
	spec := v1alpha1.EC2InstanceSpec{}
	read(t, row, &spec)
	in := runInput(unique(t), ec2types.InstanceTypeT3Micro)
	in.UserData = text(base64.StdEncoding.EncodeToString([]byte(spec.UserData)))
	for _, d := range spec.BlockDeviceMappings {
		kind := d.VolumeType
		if kind == "" {
			kind = "gp3" // as the operator launches it
		}
		in.BlockDeviceMappings = append(in.BlockDeviceMappings, ec2types.BlockDeviceMapping{
			DeviceName: &d.DeviceName, Ebs: &ec2types.EbsBlockDevice{
				VolumeType: ec2types.VolumeType(kind), VolumeSize: d.VolumeSize, Iops: d.IOPS, Throughput: d.Throughput,
			},
		})
	}
	return failed(w.ec2(keyOne, "eu-west-1").RunInstances(t.Context(), in))
}
