//go:build integration

package mototest_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	acmtypes "github.com/aws/aws-sdk-go-v2/service/acm/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	dns "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/controllers/cloud"
)

// documentOf returns the policy document of a kind that the documentation gives to administrators.
func documentOf(t *testing.T, kind string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "iam", kind+".json"))
	must(t, err)
	return string(text)
}

// namespaceOf opens the session of a namespace with the document of a kind, as Portico does.
func namespaceOf(t *testing.T, w *world, namespace, kind string) aws.Config {
	t.Helper()
	return roleOf(t, w, "x", documentOf(t, kind), func(in *sts.AssumeRoleInput) {
		in.Tags = []ststypes.Tag{
			{Key: aws.String(cloud.TagBucketPrefix), Value: aws.String(cloud.BucketPrefix("one", namespace))},
		}
		for key, value := range ownershipTags(namespace) {
			in.Tags = append(in.Tags, ststypes.Tag{Key: &key, Value: &value})
		}
	})
}

// ownershipTags returns some of the tags that Portico gives the resources it creates.
func ownershipTags(namespace string) map[string]string {
	return map[string]string{"portico.dev/cluster": "one", "portico.dev/namespace": namespace}
}

// tagsAs converts the ownership tags to a service's type of tag.
func tagsAs[T any](namespace string, tag func(key, value *string) T) []T {
	var all []T
	for key, value := range ownershipTags(namespace) {
		all = append(all, tag(&key, &value))
	}
	return all
}

// deniedCodes are the services' error codes for a denial.
var deniedCodes = []string{"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"}

// refusesAll asserts that each call is denied.
func refusesAll(t *testing.T, calls map[string]func() error) {
	t.Helper()
	for name, call := range calls {
		err := call()
		var e smithy.APIError
		if !errors.As(err, &e) || !slices.Contains(deniedCodes, e.ErrorCode()) ||
			!strings.Contains(e.ErrorMessage(), "because no identity-based policy allows") {
			t.Errorf("%s: %v, want a denial", name, err)
		}
	}
}

func failed[T any](_ T, err error) error { return err }

func TestTheDocumentOfQueuesKeepsNamespacesApart(t *testing.T) {
	w := newWorld(t)
	pay, search := sqs.NewFromConfig(namespaceOf(t, w, "pay", "sqsqueue")),
		sqs.NewFromConfig(namespaceOf(t, w, "search", "sqsqueue"))
	name := unique(t)
	made, err := pay.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Tags: ownershipTags("pay")})
	must(t, err)
	url := made.QueueUrl
	refusesAll(t, map[string]func() error{
		"untagged": func() error {
			return failed(search.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(name + "-2")}))
		},
		"in another's name": func() error {
			return failed(search.CreateQueue(
				t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(name + "-2"), Tags: ownershipTags("pay")}))
		},
		"over another's": func() error {
			return failed(search.CreateQueue(
				t.Context(), &sqs.CreateQueueInput{QueueName: &name, Tags: ownershipTags("search")}))
		},
		"attributes": func() error {
			return failed(search.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
				QueueUrl: url, Attributes: map[string]string{"DelaySeconds": "5"},
			}))
		},
		"tag": func() error {
			return failed(search.TagQueue(
				t.Context(), &sqs.TagQueueInput{QueueUrl: url, Tags: ownershipTags("search")}))
		},
		"untag": func() error {
			return failed(search.UntagQueue(
				t.Context(), &sqs.UntagQueueInput{QueueUrl: url, TagKeys: []string{"portico.dev/namespace"}}))
		},
		"delete": func() error {
			return failed(search.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: url}))
		},
		"message": func() error {
			return failed(pay.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: url}))
		},
	})
	_, err = pay.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: url})
	must(t, err)

	offered, err := sqs.NewFromConfig(config(w.operator, keyOne, "eu-west-1")).CreateQueue(
		t.Context(), &sqs.CreateQueueInput{
			QueueName: aws.String(name + "-offered"), Tags: map[string]string{"portico.dev/adopt": "pay/x"},
		})
	must(t, err)
	takes := func(api *sqs.Client, namespace string) func() error {
		return func() error {
			return failed(api.TagQueue(
				t.Context(), &sqs.TagQueueInput{QueueUrl: offered.QueueUrl, Tags: map[string]string{
					"portico.dev/name": namespace,
				}}))
		}
	}
	refusesAll(t, map[string]func() error{"take what is offered to another": takes(search, "search")})
	must(t, takes(pay, "pay")())
}

func TestTheDocumentOfTopicsKeepsNamespacesApart(t *testing.T) {
	w := newWorld(t)
	pay, search := sns.NewFromConfig(namespaceOf(t, w, "pay", "snstopic")),
		sns.NewFromConfig(namespaceOf(t, w, "search", "snstopic"))
	tags := func(namespace string) []snstypes.Tag {
		return tagsAs(namespace, func(key, value *string) snstypes.Tag { return snstypes.Tag{Key: key, Value: value} })
	}
	name := unique(t)
	made, err := pay.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: &name, Tags: tags("pay")})
	must(t, err)
	arn := made.TopicArn
	refusesAll(t, map[string]func() error{
		"untagged": func() error {
			return failed(search.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String(name + "-2")}))
		},
		"in another's name": func() error {
			return failed(search.CreateTopic(
				t.Context(), &sns.CreateTopicInput{Name: aws.String(name + "-2"), Tags: tags("pay")}))
		},
		"attributes": func() error {
			return failed(search.SetTopicAttributes(t.Context(), &sns.SetTopicAttributesInput{
				TopicArn: arn, AttributeName: aws.String("DisplayName"), AttributeValue: aws.String("x"),
			}))
		},
		"tag": func() error {
			return failed(search.TagResource(
				t.Context(), &sns.TagResourceInput{ResourceArn: arn, Tags: tags("search")}))
		},
		"untag": func() error {
			return failed(search.UntagResource(
				t.Context(), &sns.UntagResourceInput{ResourceArn: arn, TagKeys: []string{"portico.dev/namespace"}}))
		},
		"subscribe": func() error {
			return failed(search.Subscribe(t.Context(), &sns.SubscribeInput{
				TopicArn: arn, Protocol: aws.String("sqs"),
				Endpoint: aws.String("arn:aws:sqs:eu-west-1:1:q"),
			}))
		},
		"delete": func() error { return failed(search.DeleteTopic(t.Context(), &sns.DeleteTopicInput{TopicArn: arn})) },
		"publish": func() error {
			return failed(pay.Publish(t.Context(), &sns.PublishInput{TopicArn: arn, Message: aws.String("x")}))
		},
	})
	_, err = pay.DeleteTopic(t.Context(), &sns.DeleteTopicInput{TopicArn: arn})
	must(t, err)

	offered, err := sns.NewFromConfig(config(w.operator, keyOne, "eu-west-1")).CreateTopic(
		t.Context(), &sns.CreateTopicInput{
			Name: aws.String(name + "-offered"), Tags: []snstypes.Tag{
				{Key: aws.String("portico.dev/adopt"), Value: aws.String("pay/x")},
			},
		})
	must(t, err)
	takes := func(api *sns.Client) func() error {
		return func() error {
			mark := []snstypes.Tag{{Key: aws.String("portico.dev/name"), Value: aws.String("x")}}
			return failed(api.TagResource(
				t.Context(), &sns.TagResourceInput{ResourceArn: offered.TopicArn, Tags: mark}))
		}
	}
	refusesAll(t, map[string]func() error{"take what is offered to another": takes(search)})
	must(t, takes(pay)())
}

func TestTheDocumentOfMachinesKeepsNamespacesApart(t *testing.T) {
	w := newWorld(t)
	pay, search := ec2.NewFromConfig(namespaceOf(t, w, "pay", "ec2instance")),
		ec2.NewFromConfig(namespaceOf(t, w, "search", "ec2instance"))
	image := imageOf(t, w)
	tags := func(namespace string) []ec2types.Tag {
		return tagsAs(namespace, func(key, value *string) ec2types.Tag { return ec2types.Tag{Key: key, Value: value} })
	}
	input := func(namespace string) *ec2.RunInstancesInput {
		return &ec2.RunInstancesInput{
			ImageId: &image, MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "t3.micro",
			TagSpecifications: []ec2types.TagSpecification{
				{ResourceType: "instance", Tags: tags(namespace)}, {ResourceType: "volume", Tags: tags(namespace)},
			},
		}
	}
	made, err := pay.RunInstances(t.Context(), input("pay"))
	must(t, err)
	id, volume := *made.Instances[0].InstanceId, *made.Instances[0].BlockDeviceMappings[0].Ebs.VolumeId
	refusesAll(t, map[string]func() error{
		"its volume": func() error {
			return failed(search.ModifyVolume(
				t.Context(), &ec2.ModifyVolumeInput{VolumeId: &volume, Size: aws.Int32(90)}))
		},
		"tag its volume": func() error {
			return failed(search.CreateTags(
				t.Context(), &ec2.CreateTagsInput{Resources: []string{volume}, Tags: tags("search")}))
		},
		"in another's name": func() error { return failed(search.RunInstances(t.Context(), input("pay"))) },
		"stop": func() error {
			return failed(search.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{id}}))
		},
		"start": func() error {
			return failed(search.StartInstances(t.Context(), &ec2.StartInstancesInput{InstanceIds: []string{id}}))
		},
		"tag": func() error {
			return failed(search.CreateTags(
				t.Context(), &ec2.CreateTagsInput{Resources: []string{id}, Tags: tags("search")}))
		},
		"untag": func() error {
			return failed(search.DeleteTags(
				t.Context(), &ec2.DeleteTagsInput{Resources: []string{id}, Tags: tags("pay")}))
		},
		"monitor": func() error {
			return failed(search.MonitorInstances(t.Context(), &ec2.MonitorInstancesInput{InstanceIds: []string{id}}))
		},
		"attributes": func() error {
			return failed(search.ModifyInstanceAttribute(t.Context(), &ec2.ModifyInstanceAttributeInput{
				InstanceId: &id, DisableApiTermination: &ec2types.AttributeBooleanValue{Value: aws.Bool(true)},
			}))
		},
		"terminate": func() error {
			return failed(search.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{
				InstanceIds: []string{id},
			}))
		},
	})
	_, err = pay.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	must(t, err)
}

func TestTheDocumentOfHostnamesLimitsThem(t *testing.T) {
	w := unhurried(t)
	pay, search := namespaceOf(t, w, "pay", "gatewayhostnamerequest"),
		namespaceOf(t, w, "search", "gatewayhostnamerequest")
	tags := func(namespace string) []acmtypes.Tag {
		return tagsAs(namespace, func(key, value *string) acmtypes.Tag { return acmtypes.Tag{Key: key, Value: value} })
	}
	certificate := func(method acmtypes.ValidationMethod, namespace string) *acm.RequestCertificateInput {
		return &acm.RequestCertificateInput{
			DomainName: aws.String("shop.example.com"), ValidationMethod: method,
			Tags: tags(namespace),
		}
	}
	made, err := acm.NewFromConfig(pay).RequestCertificate(t.Context(), certificate("DNS", "pay"))
	must(t, err)
	arn := made.CertificateArn
	zone := newZone(t, route53.NewFromConfig(config(w.operator, keyOne, "us-east-1")), "documents.test")
	change := func(action dns.ChangeAction, kind dns.RRType) func() error {
		return func() error {
			_, err := route53.NewFromConfig(pay).ChangeResourceRecordSets(
				t.Context(), &route53.ChangeResourceRecordSetsInput{HostedZoneId: &zone, ChangeBatch: &dns.ChangeBatch{
					Changes: []dns.Change{{Action: action, ResourceRecordSet: &dns.ResourceRecordSet{
						Name: aws.String("a.documents.test"), Type: kind, TTL: aws.Int64(60),
						ResourceRecords: []dns.ResourceRecord{{Value: aws.String("192.0.2.1")}},
					}}},
				}})
			return err
		}
	}
	refusesAll(t, map[string]func() error{
		"by mail": func() error {
			return failed(acm.NewFromConfig(pay).RequestCertificate(t.Context(), certificate("EMAIL", "pay")))
		},
		"in another's name": func() error {
			return failed(acm.NewFromConfig(search).RequestCertificate(t.Context(), certificate("DNS", "pay")))
		},
		"tag": func() error {
			return failed(acm.NewFromConfig(search).AddTagsToCertificate(t.Context(), &acm.AddTagsToCertificateInput{
				CertificateArn: arn, Tags: tags("search"),
			}))
		},
		"delete": func() error {
			return failed(acm.NewFromConfig(search).DeleteCertificate(t.Context(), &acm.DeleteCertificateInput{
				CertificateArn: arn,
			}))
		},
		"upsert":       change("UPSERT", "A"),
		"mail records": change("CREATE", "MX"),
	})
	must(t, change("CREATE", "A")())
	_, err = acm.NewFromConfig(pay).DeleteCertificate(t.Context(), &acm.DeleteCertificateInput{CertificateArn: arn})
	must(t, err)
}
