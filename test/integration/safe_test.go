//go:build integration

package integration

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/test/awsproxy"
)

// guarded is a resource with a setting that denies access by others.
type guarded struct {
	obj  external.Object
	path string
	open func(t *testing.T) error // outside Portico
	// isOpen reads the setting from AWS.
	isOpen func(t *testing.T) bool
}

func guardedBucket(ns string) guarded {
	b := bucketOf(ns, "shut")
	return guarded{
		obj: b, path: "publicAccessBlock.blockPublicAcls",
		open: func(t *testing.T) error {
			t.Helper()
			_, err := outside(t, "test").DeletePublicAccessBlock(t.Context(), &s3.DeletePublicAccessBlockInput{
				Bucket: &b.Status.BucketName,
			})
			return err
		},
		isOpen: func(t *testing.T) bool {
			t.Helper()
			return !isBlocked(t, b.Status.BucketName)
		},
	}
}

// isBlocked reports whether all four switches of Block Public Access are on.
func isBlocked(t *testing.T, bucket string) bool {
	t.Helper()
	out, err := outside(t, "test").GetPublicAccessBlock(t.Context(), &s3.GetPublicAccessBlockInput{Bucket: &bucket})
	if err != nil {
		return false
	}
	c := out.PublicAccessBlockConfiguration
	return aws.ToBool(c.BlockPublicAcls) && aws.ToBool(c.BlockPublicPolicy) && aws.ToBool(c.IgnorePublicAcls) &&
		aws.ToBool(c.RestrictPublicBuckets)
}

func guardedDatabase(ns string) guarded {
	i := databaseOf(ns, "shut")
	return guarded{
		obj: i, path: "publiclyAccessible",
		open: func(t *testing.T) error {
			t.Helper()
			_, err := outsideRDS(t).ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{
				DBInstanceIdentifier: &i.Status.DBInstanceIdentifier, PubliclyAccessible: aws.Bool(true),
			})
			return err
		},
		isOpen: func(t *testing.T) bool {
			t.Helper()
			return aws.ToBool(inRDS(t, i).PubliclyAccessible)
		},
	}
}

func guardedMachine(ns string) guarded {
	m := machineOf(ns, "shut")
	return guarded{
		obj: m, path: "metadataOptions.httpTokens",
		open: func(t *testing.T) error {
			t.Helper()
			_, err := outsideEC2(t).ModifyInstanceMetadataOptions(t.Context(), &ec2.ModifyInstanceMetadataOptionsInput{
				InstanceId: &m.Status.InstanceID, HttpTokens: ec2types.HttpTokensStateOptional,
			})
			return err
		},
		isOpen: func(t *testing.T) bool {
			t.Helper()
			return inEC2(t, m).MetadataOptions.HttpTokens != ec2types.HttpTokensStateRequired
		},
	}
}

// A protective setting that nobody declared is switched off outside Portico, and an audit switches it on again.
func TestWhatKeepsOthersOutIsRepairedByAnAudit(t *testing.T) {
	for name, of := range map[string]func(ns string) guarded{
		"bucket": guardedBucket, "database": guardedDatabase, "machine": guardedMachine,
	} {
		t.Run(name, func(t *testing.T) {
			c := admin(t)
			startOperator(t, operatorOptions{resync: 500 * time.Millisecond})
			g := of(team(t, c))
			createReady(t, c, g.obj)
			if g.isOpen(t) {
				t.Fatal("it was made open")
			}
			if _, status := g.obj.AWS(); !slices.Contains(status.SafeFields, g.path) ||
				slices.Contains(status.ManagedFields, g.path) {
				t.Errorf("safe %v, managed %v", status.SafeFields, status.ManagedFields)
			}
			if err := g.open(t); err != nil {
				t.Fatal(err)
			}
			awaitEvent(t, c, g.obj, "Repaired", g.path[:12], "outside Portico")
			await(t, "the repair", func() (bool, string) { return !g.isOpen(t), "open" })
			ready(t, c, g.obj)
		})
	}
}

// An adopted public website stays public until the spec has closed it once.
func TestAnAdoptedBucketStaysPublicUntilTheSpecClosesIt(t *testing.T) {
	c := withOperator(t)
	api := outside(t, "test")
	b := bucketOf(team(t, c), "website")
	b.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt
	name := b.Spec.BucketName
	_, err := api.CreateBucket(
		t.Context(), &s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{
			LocationConstraint: "eu-west-1", Tags: []s3types.Tag{
				{Key: aws.String("portico.dev/adopt"), Value: aws.String(b.Namespace + "/" + b.Name)},
			},
		}})
	if err != nil {
		t.Fatal(err)
	}
	open := func() {
		t.Helper()
		if _, err := api.DeletePublicAccessBlock(t.Context(), &s3.DeletePublicAccessBlockInput{
			Bucket: &name,
		}); err != nil {
			t.Fatal(err)
		}
	}
	open()
	createReady(t, c, b)
	requestReconcile(t, c, b, "1")
	ready(t, c, b)
	if isBlocked(t, name) || len(b.Status.SafeFields) != 0 {
		t.Errorf("it was closed by its adoption: safe %v", b.Status.SafeFields)
	}
	on := aws.Bool(true)
	edit(t, c, b, func(b *v1alpha1.S3Bucket) {
		b.Spec.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{
			BlockPublicAcls: on, BlockPublicPolicy: on,
			IgnorePublicAcls: on, RestrictPublicBuckets: on,
		}
	})
	ready(t, c, b)
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.PublicAccessBlock = nil })
	ready(t, c, b)
	open()
	requestReconcile(t, c, b, "2")
	awaitEvent(t, c, b, "Repaired", "publicAccessBlock", "outside Portico")
	if ready(t, c, b); !isBlocked(t, name) {
		t.Error("it is open again, though the spec has closed it")
	}
}

// A bucket on a server without Block Public Access is in sync.
func TestABucketOfAServerWithoutPublicAccessBlockIsReady(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "elsewhere")
	defer world.Proxy.ServeBucket(b.Spec.BucketName, awsproxy.S3Server{Lacks: "GetPublicAccessBlock"})()
	createReady(t, c, b)
	m := requestReconcile(t, c, b, "1")
	ready(t, c, b)
	if got := operations(b.Status.BucketName, m); !slices.Contains(got, "GetPublicAccessBlock") {
		t.Errorf("an audit called %v", got)
	}
}
