package permit

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// tooWide is a request by the namespace search that one statement refuses, mostly about a resource of the namespace
// pay; no other statement refuses it.
type tooWide struct {
	action, resource string
	in               []string // condition keys and their values
}

const (
	askedFor = "aws:RequestTag/portico.dev/"
	marked   = "aws:ResourceTag/portico.dev/"
	account  = "111111111111"
	paysRole = "arn:aws:iam::" + account + ":role/portico/pay/portico-pods-pay-1"
)

var (
	asPay      = []string{askedFor + "cluster", "one", askedFor + "namespace", "pay"}
	ofPay      = []string{marked + "cluster", "one", marked + "namespace", "pay"}
	offered    = []string{marked + "adopt", "pay/x"}
	takenByTag = append([]string{askedFor + "cluster", "one", askedFor + "namespace", "search"}, ofPay...)
)

// paysBucket returns the name of a bucket of the namespace pay: a generated one, or one that the namespace chose.
func paysBucket(chosen bool) string {
	if chosen {
		return "arn:aws:s3:::pay-files"
	}
	return "arn:aws:s3:::" + cloud.BucketPrefix("one", "pay") + "-pay-files-01234567"
}

func regional(service, resource string) string {
	return "arn:aws:" + service + ":eu-west-1:" + account + ":" + resource
}

// keepsOut has, for each statement of each document that is not in forAll, a request that it must refuse.
var keepsOut = map[string]map[string]tooWide{
	"s3bucket": {
		"CreateMarked":             {"s3:CreateBucket", paysBucket(false), nil},
		"KeepTheNamespacesBuckets": {"s3:PutBucketTagging", paysBucket(false), nil},
		"EmptyForForceDestroy":     {"s3:DeleteObjectVersion", paysBucket(false) + "/a", nil},
	},
	"s3bucket-chosen-names": {
		"CreateChosenNames":         {"s3:CreateBucket", paysBucket(true), nil},
		"KeepBucketsOfChosenNames":  {"s3:PutBucketTagging", paysBucket(true), nil},
		"EmptyBucketsOfChosenNames": {"s3:DeleteObject", paysBucket(true) + "/a", nil},
	},
	"sqsqueue": {
		"CreateWithOwnershipTags": {"sqs:CreateQueue", regional("sqs", "q"), asPay},
		"TagWhatIsBeingCreated":   {"sqs:TagQueue", regional("sqs", "q"), takenByTag},
		"ChangeAndDeleteOurs":     {"sqs:DeleteQueue", regional("sqs", "q"), ofPay},
		"TakeWhatIsOnOffer":       {"sqs:TagQueue", regional("sqs", "q"), offered},
	},
	"snstopic": {
		"CreateWithOwnershipTags": {"sns:CreateTopic", regional("sns", "t"), asPay},
		"TagWhatIsBeingCreated":   {"sns:TagResource", regional("sns", "t"), takenByTag},
		"ChangeAndDeleteOurs":     {"sns:DeleteTopic", regional("sns", "t"), ofPay},
		"TakeWhatIsOnOffer":       {"sns:TagResource", regional("sns", "t"), offered},
	},
	"rdsinstance": {
		"CreateWithOwnershipTags":        {"rds:CreateDBInstance", regional("rds", "db:d"), asPay},
		"TagWhatIsBeingCreated":          {"rds:AddTagsToResource", regional("rds", "db:d"), takenByTag},
		"RestoreSnapshotsOfTheNamespace": {"rds:RestoreDBInstanceFromDBSnapshot", regional("rds", "snapshot:s"), ofPay},
		"RestoreSnapshotsOnOffer":        {"rds:RestoreDBInstanceFromDBSnapshot", regional("rds", "snapshot:s"), offered},
		"ChangeAndDeleteOurs":            {"rds:DeleteDBInstance", regional("rds", "db:d"), ofPay},
		"TakeWhatIsOnOffer":              {"rds:AddTagsToResource", regional("rds", "db:d"), offered},
		"KeepFinalSnapshots":             {"rds:CreateDBSnapshot", regional("rds", "snapshot:s"), asPay},
		"CopyTagsToFinalSnapshots":       {"rds:AddTagsToResource", regional("rds", "snapshot:s"), append([]string{"aws:TagKeys", "portico.dev/namespace"}, takenByTag...)},
		"CopyTagsThatAreNotOfTheRequest": {"rds:AddTagsToResource", regional("rds", "snapshot:s"), []string{"aws:TagKeys", "portico.dev/adopt", askedFor + "adopt", "search/x"}},
		"RoleForTheFirstDatabaseOfAnAccount": {
			"iam:CreateServiceLinkedRole", "arn:aws:iam::" + account +
				":role/aws-service-role/eks.amazonaws.com/AWSServiceRoleForAmazonEKS",
			[]string{"iam:AWSServiceName", "eks.amazonaws.com"},
		},
		"PasswordsThatRDSManages": {"secretsmanager:RotateSecret", regional("secretsmanager", "secret:platform"), nil},
		"KeysByWayOfRDS":          {"kms:Decrypt", regional("kms", "key/1"), nil},
	},
	"ec2instance": {
		"TagsOfInstanceProfiles":   {"iam:GetInstanceProfile", "arn:aws:iam::" + account + ":role/x", nil},
		"LaunchWithOwnershipTags":  {"ec2:RunInstances", regional("ec2", "instance/*"), asPay},
		"LaunchFromAndInto":        {"ec2:RunInstances", regional("ec2", "launch-template/lt-1"), nil},
		"TagWhatIsBeingLaunched":   {"ec2:CreateTags", regional("ec2", "instance/i-1"), takenByTag},
		"ChangeAndDeleteOurs":      {"ec2:TerminateInstances", regional("ec2", "instance/i-1"), ofPay},
		"ChangeVolumesOfOurs":      {"ec2:ModifyVolume", regional("ec2", "volume/vol-1"), ofPay},
		"PutIntoSecurityGroups":    {"ec2:ModifyInstanceAttribute", regional("ec2", "instance/i-1"), ofPay},
		"TakeWhatIsOnOffer":        {"ec2:CreateTags", regional("ec2", "volume/vol-1"), offered},
		"ListsOfImageParameters":   {"ssm:GetParametersByPath", regional("ssm", "parameter/platform"), nil},
		"ImagesThatParametersName": {"ssm:GetParameter", regional("ssm", "parameter/platform/password"), nil},
		"RolesOfTheNamespace":      {"iam:PassRole", "arn:aws:iam::" + account + ":role/portico/pay/x", []string{"iam:PassedToService", "ec2.amazonaws.com"}},
		"KeysByWayOfEC2":           {"kms:Decrypt", regional("kms", "key/1"), nil},
	},
	"accessbinding": {
		"LookAtTheBoundaryAndTheIssuer": {"iam:GetPolicy", "arn:aws:iam::" + account + ":policy/payroll", nil},
		"ReadRolesOfTheNamespace":       {"iam:GetRole", paysRole, nil},
		"MakeRolesWithinTheBoundary": {
			"iam:CreateRole", "arn:aws:iam::" + account +
				":role/portico/search/portico-pods-search-1",
			[]string{"iam:PermissionsBoundary", "arn:aws:iam::aws:policy/AdministratorAccess"},
		},
		"KeepRolesOfTheNamespace": {"iam:DeleteRole", paysRole, nil},
		"GiveRolesToPods":         {"iam:PassRole", paysRole, []string{"iam:PassedToService", "pods.eks.amazonaws.com"}},
		"CreateWithOwnershipTags": {"eks:CreatePodIdentityAssociation", regional("eks", "cluster/main"), asPay},
		"TagWhatIsBeingCreated":   {"eks:TagResource", regional("eks", "podidentityassociation/main/a-1"), takenByTag},
		"ChangeAndDeleteOurs":     {"eks:DeletePodIdentityAssociation", regional("eks", "podidentityassociation/main/a-1"), ofPay},
	},
	"gatewayhostnamerequest": {
		"ReadZones": {"route53:ListResourceRecordSets", "arn:aws:route53:::change/C1", nil},
		"WriteRecords": {
			"route53:ChangeResourceRecordSets", "arn:aws:route53:::hostedzone/Z1",
			[]string{
				"route53:ChangeResourceRecordSetsRecordTypes", "MX", "route53:ChangeResourceRecordSetsActions",
				"CREATE",
			},
		},
		"SeeChangesArrive":         {"route53:GetChange", "arn:aws:route53:::hostedzone/Z1", nil},
		"RequestWithOwnershipTags": {"acm:RequestCertificate", regional("acm", "certificate/*"), append([]string{"acm:ValidationMethod", "DNS"}, asPay...)},
		"TagWhatIsBeingRequested":  {"acm:AddTagsToCertificate", regional("acm", "certificate/1"), takenByTag},
		"DeleteOurs":               {"acm:DeleteCertificate", regional("acm", "certificate/1"), ofPay},
	},
}

// forAll are the statements that apply to all namespaces alike and refuse nothing to another one, with the reason.
var forAll = map[string]string{
	"Look":                   "AWS does not limit listing and describing by resource, or it tells whose a resource is",
	"TagsOfWhatRequestsName": "it tells whose a resource is, and has none",
	"ReferToGroups":          "groups of the account are for all: what one may name is Portico's to check",
	"ListsForForms": "AWS does not limit listing by resource: what a namespace can use of it Portico " +
		"sorts out",
	"SubscriptionsHaveNoTags": "SNS has no tags on subscriptions",

	"ReadPoliciesOfReceivers": "a policy of a queue or topic is no secret: Look of these kinds reads it, too",
	"ReadPoliciesOfQueues":    "a policy of a queue is no secret: Look of SQSQueue reads it, too",
	"ReadPoliciesOfKeys":      "the policy of a key is no secret; Portico checks which key a request names",
}

// widened returns a document with the statement alone, without its resource and condition.
func widened(t *testing.T, statement map[string]any) *iampolicy.Policy {
	t.Helper()
	statement = maps.Clone(statement)
	delete(statement, "Condition")
	statement["Resource"] = "*"
	text, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{statement}})
	if err != nil {
		t.Fatal(err)
	}
	policy, err := ParsePolicy(text)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

// decide judges the request in a session of the namespace search.
func (w tooWide) decide(policy *iampolicy.Policy) bool {
	in := Facts{}.With("aws:PrincipalTag/portico.dev/cluster", "one").With("aws:PrincipalTag/portico.dev/namespace",
		"search").
		With("aws:PrincipalTag/portico.dev/bucket-prefix", cloud.BucketPrefix("one", "search"))
	for pair := range slices.Chunk(w.in, 2) {
		in.With(pair[0], pair[1])
	}
	all := iampolicy.Policies{Identity: []*iampolicy.Policy{policy}}
	return all.Decide(iampolicy.Request{Action: w.action, Resource: w.resource, Context: func(key string) []string {
		return in[key]
	}}).Allowed
}

// TestEachStatementKeepsTheWrongNamespaceOut checks that each statement of each document refuses another namespace
// something that it would allow without its resource and condition.
func TestEachStatementKeepsTheWrongNamespaceOut(t *testing.T) {
	files, err := filepath.Glob("../../../docs/iam/*.json")
	if err != nil || len(files) < len(keepsOut) {
		t.Fatal(files, err)
	}
	for _, file := range files {
		kind := strings.TrimSuffix(filepath.Base(file), ".json")
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := ParsePolicy(text)
		if err != nil {
			t.Fatal(err)
		}
		var document struct{ Statement []map[string]any }
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		rest := maps.Clone(keepsOut[kind])
		for _, statement := range document.Statement {
			sid := statement["Sid"].(string)
			request, limited := rest[sid]
			delete(rest, sid)
			switch {
			case forAll[sid] != "" && !limited:
			case !limited:
				t.Errorf("%s: say what %s refuses, or why it is for all", kind, sid)
			case request.decide(whole):
				t.Errorf("%s: %+v is allowed, and %s is there to refuse it", kind, request, sid)
			case !request.decide(widened(t, statement)):
				t.Errorf("%s: %+v has nothing to do with %s", kind, request, sid)
			}
		}
		for sid := range rest {
			t.Errorf("%s has no statement %s", kind, sid)
		}
	}
}
