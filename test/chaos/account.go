package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
)

// resource is one resource in AWS.
type resource struct {
	kind, id string // the name or ID, as in the object's status
	tags     map[string]string
	config   string            // all settings that do not change without a request
	fields   map[string]string // its settings, by JSON path in the spec
}

func (r resource) String() string { return r.kind + " " + r.id }

// service changes the resources of one kind directly in AWS, without the operator.
type service interface {
	list(ctx context.Context) ([]resource, error)
	make(ctx context.Context, name string, tags map[string]string) error
	tag(ctx context.Context, id string, tags map[string]string) error
	drift(ctx context.Context, lot *rand.Rand, id string) error
	destroy(ctx context.Context, id string) error
}

// account is the AWS account, as seen by a person who does not use the operator.
type account struct {
	s3   *s3.Client
	sqs  *sqs.Client
	sns  *sns.Client
	rds  *rds.Client
	ec2  *ec2.Client
	dns  *route53.Client
	acm  *acm.Client
	iam  *iam.Client
	eks  *eks.Client
	zone string // public hosted zone
}

func newAccount(cfg aws.Config, zone string) *account {
	return &account{
		s3:  s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }),
		sqs: sqs.NewFromConfig(cfg), sns: sns.NewFromConfig(cfg), rds: rds.NewFromConfig(cfg),
		ec2: ec2.NewFromConfig(cfg),
		dns: route53.NewFromConfig(cfg), acm: acm.NewFromConfig(cfg), iam: iam.NewFromConfig(cfg),
		eks: eks.NewFromConfig(cfg), zone: zone,
	}
}

// services returns the services of the AWS kinds, by kind.
func (a *account) services() map[string]service {
	return map[string]service{
		"S3Bucket": buckets{a}, "SQSQueue": queues{a}, "SNSTopic": topics{a}, "RDSInstance": databases{a}, "EC2Instance": machines{a},
	}
}

// inventory lists everything of every kind.
func inventory(ctx context.Context, services map[string]service) ([]resource, error) {
	var all []resource
	for kind, s := range services {
		some, err := s.list(ctx)
		if err != nil {
			return nil, fmt.Errorf("list what AWS has of %s: %w", kind, err)
		}
		for i := range some {
			some[i].kind = kind
		}
		all = append(all, some...)
	}
	return all, nil
}

// absent returns err, or nil if its code is one of the codes.
func absent(err error, codes ...string) error {
	if e, ok := errors.AsType[smithy.APIError](err); ok && slices.Contains(codes, e.ErrorCode()) {
		return nil
	}
	return err
}

// text returns v as JSON.
func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// pick returns a random element of all.
func pick[T any](lot *rand.Rand, all []T) T { return all[lot.IntN(len(all))] }
