//go:build integration

package integration

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/test/tiers"
)

// neighbour is a team with a resource of each kind, in the account that it shares with the team of a journey.
type neighbour struct {
	domain
	shared sharedAccount
	// things are its objects whose resources have names in AWS, by kind.
	things                                          map[string]engine.Object
	closed                                          string // an AWSProvider that the team of the journey cannot use
	group, subnet, image, snapshot, profile, key    string
	dbSnapshot, dbSubnets, dbParameters, queue, kms string
}

func newNeighbour(j journey) *neighbour {
	j.t.Helper()
	n := &neighbour{
		domain: domainOf(j.t, j.c), things: map[string]engine.Object{},
		kms: "arn:aws:kms:eu-west-1:123456789012:key/11111111-1111-1111-1111-111111111111",
	}
	n.shared = sharedAccount{
		j.t, ec2.NewFromConfig(outsideConfig(j.t, "test")),
		iam.NewFromConfig(outsideConfig(j.t, "test")),
	}
	for _, kind := range []string{"S3Bucket", "SQSQueue", "SNSTopic", "RDSInstance", "WebApp"} {
		n.things[kind] = journey{t: j.t, c: j.c, domain: n.domain}.object(kind, "theirs", "{}")
		create(j.t, j.c, n.things[kind])
	}
	n.things["GatewayHostnameRequest"] = journey{t: j.t, c: j.c, domain: n.domain}.object(
		"GatewayHostnameRequest", "theirs", "{}")
	create(j.t, j.c, n.things["GatewayHostnameRequest"])
	create(j.t, j.c, &corev1.Secret{ObjectMeta: meta1(n.ns, "theirs"), StringData: map[string]string{
		"a": "1", "password": "of-the-neighbours-own", "key": "x", "script": "true",
	}})
	create(j.t, j.c, &corev1.ConfigMap{ObjectMeta: meta1(n.ns, "theirs"), Data: map[string]string{
		"a": "1", "script": "true",
	}})
	p := account(j.t, j.c, "240000000002")
	edit(j.t, j.c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.AllowedNamespaces = &metav1.LabelSelector{
			MatchLabels: map[string]string{"kubernetes.io/metadata.name": n.ns},
		}
	})
	n.closed = p.Name
	for _, kind := range []string{"S3Bucket", "SQSQueue", "SNSTopic", "RDSInstance"} {
		ready(j.t, j.c, n.things[kind])
	}
	n.queue = n.things["SQSQueue"].(*v1alpha1.SQSQueue).Status.ARN
	return n
}

// inAWS creates the neighbour's resources that somebody with access to AWS created.
func (n *neighbour) inAWS() {
	n.t.Helper()
	s, ctx := n.shared, n.t.Context()
	n.group, n.profile, n.key = s.group("of-"+n.ns), "of-"+n.ns, "of-"+n.ns
	s.profile(n.profile, n.ns)
	n.image, n.snapshot = s.disk()
	vpcs, err := s.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
	s.must(err)
	subnet, err := s.ec2.CreateSubnet(
		ctx, &ec2.CreateSubnetInput{VpcId: vpcs.Vpcs[0].VpcId, CidrBlock: aws.String("172.31.208.0/24")})
	s.must(err)
	n.subnet = *subnet.Subnet.SubnetId
	for _, id := range []string{n.group, n.subnet, n.image, n.snapshot} {
		s.tag(id, n.ns)
	}
	_, err = s.ec2.CreateKeyPair(ctx, &ec2.CreateKeyPairInput{KeyName: &n.key})
	s.must(err)
	db := outsideRDS(n.t)
	n.dbSnapshot, n.dbSubnets, n.dbParameters = "of-"+n.ns, "of-"+n.ns, "of-"+n.ns
	_, err = db.CreateDBSnapshot(ctx, &rds.CreateDBSnapshotInput{
		DBInstanceIdentifier: aws.String(n.things["RDSInstance"].(*v1alpha1.RDSInstance).Status.DBInstanceIdentifier),
		DBSnapshotIdentifier: &n.dbSnapshot,
	})
	s.must(err)
	_, err = db.CreateDBSubnetGroup(ctx, &rds.CreateDBSubnetGroupInput{
		DBSubnetGroupName: &n.dbSubnets, DBSubnetGroupDescription: &n.ns, SubnetIds: []string{n.subnet},
	})
	s.must(err)
	_, err = db.CreateDBParameterGroup(ctx, &rds.CreateDBParameterGroupInput{
		DBParameterGroupName:   &n.dbParameters,
		DBParameterGroupFamily: aws.String("postgres16"), Description: &n.ns,
	})
	s.must(err)
}

// trespass is a field in which a team refers to a resource of its neighbour.
type trespass struct {
	kind, path string
	nothing    string // what the row of astray refers to
	theirs     string
	reason     string // of Ready for the neighbour's
}

// trespasses returns a row for each field of the kinds for teams that could refer to something of another team.
func (n *neighbour) trespasses() (all []trespass) {
	for _, kind := range []string{
		"S3Bucket", "SQSQueue", "SNSTopic", "RDSInstance", "EC2Instance",
		"GatewayHostnameRequest",
	} {
		all = append(all, trespass{kind, "providerRef.name", "nowhere", n.closed, "ProviderNotFound"})
	}
	const no = "ReferenceNotAllowed"
	return append(all, []trespass{
		{"S3Bucket", "encryption.kmsKeyID", noKey, n.kms, no},
		{"SQSQueue", "kmsMasterKeyId", noKey, n.kms, no},
		{"SQSQueue", "deadLetterQueue.targetRef.name", "nowhere", "theirs", "WaitingForDeadLetterQueue"},
		{"SQSQueue", "deadLetterQueue.targetArn", noQueue, n.queue, no},
		{"SQSQueue", "redriveAllowPolicy.sourceQueueArns[]", noQueue, n.queue, "InSync"}, // allows theirs to send here
		{"SQSQueue", "redriveAllowPolicy.sourceQueueRefs[].name", "nowhere", "theirs", "InSync"},
		{"SQSQueue", "allowFrom[].topicRef.name", "nowhere", "theirs", "InSync"},
		{"SQSQueue", "allowFrom[].bucketRef.name", "nowhere", "theirs", "InSync"},
		{"SQSQueue", "allowFrom[].arn", noTopic, n.things["SNSTopic"].(*v1alpha1.SNSTopic).Status.ARN, no},
		{"SNSTopic", "allowFrom[].bucketRef.name", "nowhere", "theirs", "InSync"},
		{
			"SNSTopic", "allowFrom[].arn", "arn:aws:events:eu-west-1:999999999999:rule/nowhere",
			"arn:aws:events:eu-west-1:123456789012:rule/theirs", no,
		},
		{"S3Bucket", "notifications[].queueRef.name", "nowhere", "theirs", "WaitingForQueues"},
		{"S3Bucket", "notifications[].topicRef.name", "nowhere", "theirs", "WaitingForQueues"},
		{"SNSTopic", "kmsMasterKeyId", noKey, n.kms, no},
		{"SNSTopic", "subscriptions[].queueRef.name", "nowhere", "theirs", "WaitingForQueues"},
		{"RDSInstance", "dbSubnetGroupName", "nowhere", n.dbSubnets, no},
		{"RDSInstance", "dbParameterGroupName", "nowhere", n.dbParameters, no},
		{"RDSInstance", "kmsKeyID", noKey, n.kms, no},
		{"RDSInstance", "masterUserSecretKmsKeyID", "alias/nowhere", "alias/theirs", no},
		{"RDSInstance", "masterUserPasswordSecretRef.name", "nowhere", "theirs", "SecretNotFound"},
		{"RDSInstance", "restoreFrom.snapshotIdentifier", "nowhere", n.dbSnapshot, "SnapshotNotAllowed"},
		{"RDSInstance", "vpcSecurityGroupIDs[]", "sg-0123456789abcdef0", n.group, no},
		{"EC2Instance", "imageID", "ami-0123456789abcdef0", n.image, no},
		{"EC2Instance", "subnetID", "subnet-0123456789abcdef0", n.subnet, no},
		{"EC2Instance", "securityGroupIDs[]", "sg-0123456789abcdef0", n.group, no},
		{"EC2Instance", "keyName", "nowhere", n.key, no},
		{"EC2Instance", "iamInstanceProfile", "nowhere", n.profile, no},
		{"EC2Instance", "blockDeviceMappings[].kmsKeyID", "alias/nowhere", "alias/theirs", no},
		{"EC2Instance", "blockDeviceMappings[].snapshotID", "snap-0123456789abcdef0", n.snapshot, "SnapshotNotAllowed"},
		{"EC2Instance", "userDataFrom.secretKeyRef.name", "nowhere", "theirs", "SecretNotFound"},
		{"EC2Instance", "userDataFrom.configMapKeyRef.name", "nowhere", "theirs", "ConfigMapNotFound"},
		{"WebApp", "bindings[].name", "nowhere", "theirs", "BindingNotFound"},
		{"WebApp", "env[].valueFrom.secretKeyRef.name", "nowhere", "theirs", "CreateContainerConfigError"},
		{"WebApp", "env[].valueFrom.configMapKeyRef.name", "nowhere", "theirs", "CreateContainerConfigError"},
		{"WebApp", "envFrom[].secretRef.name", "nowhere", "theirs", "CreateContainerConfigError"},
		{"WebApp", "envFrom[].configMapRef.name", "nowhere", "theirs", "CreateContainerConfigError"},
		{"WebApp", "imagePullSecrets[].name", "nowhere", "theirs", "ImagePullBackOff"},
		{"WebApp", "expose.hostname", "nowhere", "theirs", "HostnameNotFound"},
		{"GatewayHostnameRequest", "zoneId", "Z0123456789ABCDEFGHIJ", n.zone, "NotInZone"},
		{"GatewayHostnameRequest", "validationZoneId", "Z0123456789ABCDEFGHIJ", n.zone, "InvalidSpec"},
		{"GatewayHostnameRequest", "hostname", "shop.nobodys.example", "theirs." + n.name, "NotGranted"},
	}...)
}

// ofNobody are references that cannot refer to anything of another team, with the reason.
var ofNobody = map[string]string{
	"region":                              "of AWS",
	"image":                               "the registry says who may pull it, by the namespace's own imagePullSecrets",
	"imageSSMParameter":                   "what it leads to is checked as imageID",
	"identity.awsRoleARN":                 "AWS asks the role's trust policy, which names ServiceAccounts",
	"gatewayClass":                        "of the platform",
	"env[].valueFrom.secretKeyRef.key":    "of the namespace's own Secret",
	"env[].valueFrom.configMapKeyRef.key": "of the namespace's own ConfigMap",
	"userDataFrom.secretKeyRef.key":       "of the namespace's own Secret",
	"userDataFrom.configMapKeyRef.key":    "of the namespace's own ConfigMap",
	"masterUserPasswordSecretRef.key":     "of the namespace's own Secret",
	"allowFrom[].account":                 "of the bucket whose ARN stands beside it",
	"subscriptions[].https":               "an address is no resource: a guardrail names it",
	"subscriptions[].email":               "an address is no resource: a guardrail names it",
}

// spec returns the spec of the row of astray for this field, which refers to something that does not exist.
func (x trespass) spec(t *testing.T) string {
	t.Helper()
	for _, a := range astray() {
		if a.kind == x.kind && a.path == x.path && strings.Contains(a.spec, x.nothing) {
			return a.spec
		}
	}
	t.Fatalf("%s: astray has no %s that names %s", x.kind, x.path, x.nothing)
	return ""
}

// TestEveryReferenceStopsAtTheTeam refers, in every field with references, to a neighbour's resource in the shared
// account, and to one that does not exist. Neither is used, and the messages are the same, except where AWS itself
// shows the difference.
func TestEveryReferenceStopsAtTheTeam(t *testing.T) {
	tiers.Long(t)
	j := newJourney(t)
	create(t, j.c, &corev1.Secret{ObjectMeta: meta1(j.ns, "there"), StringData: map[string]string{
		"password": "long-enough-1",
	}})
	n := newNeighbour(j)
	n.inAWS()
	rows := n.trespasses()
	n.wholly(rows)
	type pair struct{ none, theirs engine.Object }
	pairs := make([]pair, len(rows))
	for i, x := range rows {
		spec := x.spec(t)
		pairs[i] = pair{
			j.object(x.kind, fmt.Sprintf("none-%d", i), spec),
			j.object(x.kind, fmt.Sprintf("take-%d", i), strings.ReplaceAll(spec, x.nothing, x.theirs)),
		}
		create(t, j.c, pairs[i].none)
		create(t, j.c, pairs[i].theirs)
	}
	for i, x := range rows {
		t.Run(x.kind+" "+x.path, func(t *testing.T) {
			told := func(message, named, object string) string {
				return ofPod.ReplaceAllString(strings.NewReplacer(named, "IT", object, "OBJECT").Replace(message),
					"OBJECT-POD")
			}
			// Await it, because the two rollouts can be at different steps.
			await(t, "the same to be said of theirs and of nothing", func() (bool, string) {
				a := told(reason(t, j.c, pairs[i].theirs, x.reason).Message, x.theirs, pairs[i].theirs.GetName())
				b := told(reason(t, j.c, pairs[i].none, x.reason).Message, x.nothing, pairs[i].none.GetName())
				return a == b, fmt.Sprintf("of theirs it says\n%s\nand of nothing\n%s", a, b)
			})
		})
	}
}

// ofPod matches the name of an application's Pod.
var ofPod = regexp.MustCompile(`OBJECT-[0-9a-z]+-[0-9a-z]{5}`)

// wholly fails unless every reference of the kinds for teams has a row, or a reason for having none.
func (n *neighbour) wholly(rows []trespass) {
	n.t.Helper()
	tried := map[string]bool{}
	for _, x := range rows {
		tried[x.kind+" "+x.path] = true
	}
	for _, a := range astray() {
		if n.things[a.kind] == nil && a.kind != "EC2Instance" {
			continue // teams do not write these kinds
		}
		if !tried[a.kind+" "+a.path] && ofNobody[a.path] == "" {
			n.t.Errorf("%s: nobody tries a neighbour's in spec.%s: add it to trespasses, or to ofNobody", a.kind,
				a.path)
		}
	}
}
