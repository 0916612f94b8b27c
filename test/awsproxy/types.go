package awsproxy

import (
	"github.com/portico-platform/portico/test/awsproxy/acm"
	"github.com/portico-platform/portico/test/awsproxy/delivery"
	"github.com/portico-platform/portico/test/awsproxy/ec2"
	"github.com/portico-platform/portico/test/awsproxy/eks"
	"github.com/portico-platform/portico/test/awsproxy/iam"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/podidentity"
	"github.com/portico-platform/portico/test/awsproxy/rds"
	"github.com/portico-platform/portico/test/awsproxy/route53"
	"github.com/portico-platform/portico/test/awsproxy/s3"
	"github.com/portico-platform/portico/test/awsproxy/sqs"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// The services with settings for tests, by the names of the fields that Proxy embeds.
type (
	acmService     = acm.Service
	deliveryPost   = delivery.Post
	ec2Service     = ec2.Service
	eksService     = eks.Service
	iamService     = iam.Service
	permitRoles    = permit.Roles
	podAgent       = podidentity.Agent
	rdsService     = rds.Service
	route53Service = route53.Service
	s3Service      = s3.Service
	sqsService     = sqs.Service
)

// Types of services that tests use.
type (
	// Call is one request as the journal records it.
	Call = wire.Call
	// Actor names the entrance that a call came through.
	Actor = wire.Actor
	// S3Server describes how the server of one bucket differs from AWS.
	S3Server = s3.Server
	// DatabaseServers are real database servers behind simulated instances of RDS.
	DatabaseServers = rds.Servers
	// DatabaseInstance is what a client of an instance needs.
	DatabaseInstance = rds.Instance
	// EKSCluster identifies a cluster of Amazon EKS.
	EKSCluster = eks.Cluster
	// Pod holds the claims of a Pod's token.
	Pod = podidentity.Pod
	// PodVerifier returns the Pod that a token belongs to.
	PodVerifier = podidentity.Verifier
)

// The entrances.
const (
	Operator = wire.Operator
	Outside  = wire.Outside
	Workload = wire.Workload
)

// PlainHTTPHeader is wire.PlainHTTPHeader.
const PlainHTTPHeader = wire.PlainHTTPHeader

// ErrPodToken is podidentity.ErrToken.
var ErrPodToken = podidentity.ErrToken

// ParsePolicy parses a policy document for roles, as permit.ParsePolicy does.
func ParsePolicy(text []byte) (*iampolicy.Policy, error) { return permit.ParsePolicy(text) }
