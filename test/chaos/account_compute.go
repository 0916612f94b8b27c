package chaos

import (
	"context"
	"maps"
	"math/rand/v2"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/test/stack"
)

func databaseTags(tags map[string]string) []rdstypes.Tag {
	return cloud.TagList(tags, func(key, value *string) rdstypes.Tag { return rdstypes.Tag{Key: key, Value: value} })
}

// databases implements service for RDS instances.
type databases struct{ *account }

func (a databases) list(ctx context.Context) (all []resource, err error) {
	pages := rds.NewDescribeDBInstancesPaginator(a.rds, &rds.DescribeDBInstancesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for i := range page.DBInstances {
			all = append(all, database(&page.DBInstances[i]))
		}
	}
	return all, nil
}

func (a databases) make(ctx context.Context, name string, tags map[string]string) error {
	_, err := a.rds.CreateDBInstance(ctx, &rds.CreateDBInstanceInput{
		DBInstanceIdentifier: &name, Engine: aws.String("postgres"), DBInstanceClass: aws.String("db.t4g.micro"),
		AllocatedStorage: aws.Int32(20),
		MasterUsername:   aws.String("owner"), MasterUserPassword: aws.String("not-for-anybody"),
		Tags: databaseTags(tags),
	})
	return err
}

func (a databases) tag(ctx context.Context, id string, tags map[string]string) error {
	arn := "arn:aws:rds:" + stack.Region + ":" + stack.AccountID + ":db:" + id
	_, err := a.rds.AddTagsToResource(ctx, &rds.AddTagsToResourceInput{ResourceName: &arn, Tags: databaseTags(tags)})
	return err
}

func (a databases) drift(ctx context.Context, lot *rand.Rand, id string) error {
	_, err := a.rds.ModifyDBInstance(
		ctx, &rds.ModifyDBInstanceInput{DBInstanceIdentifier: &id, BackupRetentionPeriod: aws.Int32(1 + lot.Int32N(9))})
	return err
}

func (a databases) destroy(ctx context.Context, id string) error {
	_, err := a.rds.DeleteDBInstance(
		ctx, &rds.DeleteDBInstanceInput{DBInstanceIdentifier: &id, SkipFinalSnapshot: aws.Bool(true)})
	return err
}

func database(db *rdstypes.DBInstance) resource {
	tags := cloud.TagMap(db.TagList, func(t rdstypes.Tag) (key, value *string) { return t.Key, t.Value })
	lasting := []any{
		db.Engine, db.DBInstanceClass, db.AllocatedStorage, db.BackupRetentionPeriod, db.DeletionProtection,
		db.PubliclyAccessible,
		db.MasterUsername, db.DBInstanceStatus, db.MaxAllocatedStorage, tags,
	}
	return resource{id: *db.DBInstanceIdentifier, tags: tags, config: text(lasting), fields: map[string]string{
		"backupRetentionPeriod": strconv.Itoa(int(aws.ToInt32(db.BackupRetentionPeriod))),
		"engine":                aws.ToString(db.Engine),
	}}
}

// machines implements service for EC2 instances.
type machines struct{ *account }

func (a machines) list(ctx context.Context) (all []resource, err error) {
	pages := ec2.NewDescribeInstancesPaginator(a.ec2, &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
		{Name: aws.String("instance-state-name"), Values: []string{"pending", "running", "stopping", "stopped"}},
	}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, reserved := range page.Reservations {
			for i := range reserved.Instances {
				all = append(all, machine(&reserved.Instances[i]))
			}
		}
	}
	return all, nil
}

func (a machines) tag(ctx context.Context, id string, tags map[string]string) error {
	_, err := a.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: machineTags(tags)})
	return err
}

func (a machines) drift(ctx context.Context, lot *rand.Rand, id string) error {
	_, err := a.ec2.ModifyInstanceMetadataOptions(ctx, &ec2.ModifyInstanceMetadataOptionsInput{
		InstanceId: &id, HttpPutResponseHopLimit: aws.Int32(1 + lot.Int32N(9)),
	})
	return err
}

func (a machines) destroy(ctx context.Context, id string) error {
	_, err := a.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	return err
}

func machineTags(tags map[string]string) []ec2types.Tag {
	return cloud.TagList(tags, func(key, value *string) ec2types.Tag { return ec2types.Tag{Key: key, Value: value} })
}

func machine(i *ec2types.Instance) resource {
	tags := cloud.TagMap(i.Tags, func(t ec2types.Tag) (key, value *string) { return t.Key, t.Value })
	return resource{
		id: *i.InstanceId, tags: tags,
		config: text([]any{i.InstanceType, i.State.Name, i.MetadataOptions, i.ImageId, tags}),
		fields: map[string]string{"instanceType": string(i.InstanceType)},
	}
}

func (a machines) make(ctx context.Context, name string, tags map[string]string) error {
	tags = maps.Clone(tags)
	tags["Name"] = name
	_, err := a.ec2.RunInstances(ctx, &ec2.RunInstancesInput{
		ImageId: aws.String(image), InstanceType: ec2types.InstanceTypeT3Micro, MinCount: aws.Int32(1),
		MaxCount: aws.Int32(1),
		TagSpecifications: []ec2types.TagSpecification{
			{ResourceType: ec2types.ResourceTypeInstance, Tags: machineTags(tags)},
		},
	})
	return err
}
