package cloud

import (
	"bufio"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// retried are codes without a class: the call is retried with back-off.
var retried = map[string]string{
	"InternalError": "AWS's own failure", "InternalFailure": "AWS's own failure",
	"InternalServerError":        "AWS's own failure",
	"DependencyTimeoutException": "AWS's own failure", "KMSInternalException": "AWS's own failure",
	"InternalServiceException": "AWS's own failure", "ServiceFailure": "AWS's own failure",
	"ServiceUnavailable": "AWS's own failure",
	"Unavailable":        "AWS's own failure", "ServerException": "AWS's own failure",
	"RequestTimeout":                  "the connection was slow",
	"PaginationTokenExpiredException": "the listing begins again", "InvalidPaginationToken": "the listing begins again",
	"TemporaryRedirect": "a new bucket's name is not known everywhere yet",
	"InvalidFilter":     "no filter comes from a spec", "UnknownParameter": "no parameter's name comes from a spec",
	"InvalidInstanceID.Malformed": "no ID comes from a spec", "NoSuchKey": "objects are deleted, not read",
	"NoSuchVersion":       "what is gone needs no deletion",
	"FilterLimitExceeded": "no filter comes from a spec", "InvalidID": "no ID of what is tagged comes from a spec",
	"InvalidVolumeID.Malformed":             "no volume's ID comes from a spec",
	"InvalidAssociationID.NotFound":         "the next look shows that it went",
	"InvalidBucketOwnerAWSAccountID":        "the account is the one that STS names",
	"InsufficientCapacity":                  "a shortage of AWS's that passes",
	"InsufficientVolumeCapacity":            "a shortage of AWS's that passes",
	"RuleNotFound":                          "a rule went while rules were listed",
	"BlueGreenDeploymentNotFoundFault":      "of tags of other things",
	"DBProxyEndpointNotFoundFault":          "of tags of other things",
	"DBProxyNotFoundFault":                  "of tags of other things",
	"DBProxyTargetGroupNotFoundFault":       "of tags of other things",
	"DBShardGroupNotFound":                  "of tags of other things",
	"DBSnapshotTenantDatabaseNotFoundFault": "of tags of other things",
	"IntegrationNotFoundFault":              "of tags of other things",
	"TenantDatabaseNotFound":                "of tags of other things",
	"DelegationSetNotReusable":              "no delegation set is named",
	"NoSuchDelegationSet":                   "no delegation set is named",
	"InvalidFilterKey":                      "no filter comes from a spec",
	"InvalidFilterOption":                   "no filter comes from a spec",
	"InvalidFilterValue":                    "no filter comes from a spec",
	"InvalidNextToken":                      "the listing begins again",
}

// serviceIDs maps the services of the lists to the SDK's IDs.
var serviceIDs = map[string]string{
	"acm": "ACM", "ec2": "EC2", "eks": "EKS", "elasticloadbalancingv2": "Elastic Load Balancing v2", "iam": "IAM",
	"kms": "KMS", "rds": "RDS",
	"resourcegroupstaggingapi": "Resource Groups Tagging API", "route53": "Route 53", "s3": "S3", "sns": "SNS",
	"sqs": "SQS", "ssm": "SSM", "sts": "STS",
}

// classified returns the codes of the table, for any service.
func classified() map[string]errorClass {
	all := map[string]errorClass{}
	for _, codes := range errorClasses {
		maps.Copy(all, codes)
	}
	return all
}

// A code has its own service's meaning, else the meaning that all other services agree on, else none.
func TestACodeMeansWhatItsServiceSays(t *testing.T) {
	table := classTable{
		anyService: {"AccessDenied": denied}, "ACM": {"LimitExceededException": quota, "Odd": invalid},
		"DynamoDB": {"LimitExceededException": busy, "AccessDenied": notReady},
	}
	for _, row := range []struct {
		service, code string
		want          errorClass
		known         bool
	}{
		{"ACM", "LimitExceededException", quota, true},
		{"DynamoDB", "LimitExceededException", busy, true},
		{"SQS", "LimitExceededException", transient, false},
		{"SQS", "Odd", invalid, true},
		{"", "Odd", invalid, true},
		{"ACM", "AccessDenied", denied, true},
		{"DynamoDB", "AccessDenied", notReady, true},
		{"ACM", "Other", transient, false},
	} {
		if class, known := table.classFor(row.service, row.code); class != row.want || known != row.known {
			t.Errorf("%s of %s: class %d, known %v", row.code, row.service, class, known)
		}
	}
}

// None of the services that Portico calls today gives another service's code a different meaning.
func TestDocumentedCodesHaveOneMeaning(t *testing.T) {
	for code, services := range documented(t) {
		for _, service := range services {
			if class, known := classified()[code]; known {
				if got, has := errorClasses.classFor(serviceIDs[service], code); !has || got != class {
					t.Errorf("%s of %s: class %d, known %v; elsewhere %d", code, service, got, has, class)
				}
			}
		}
	}
}

// listed returns the codes of a list, with their services.
func listed(t *testing.T, file string) map[string][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string][]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if service, code, ok := strings.Cut(lines.Text(), " "); ok && service != "#" {
			all[code] = append(all[code], service)
		}
	}
	return all
}

// documented returns the codes that AWS documents for the calls that Portico makes, with their services.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	all := listed(t, "testdata/errors.txt")
	for code, services := range listed(t, "testdata/errors-ec2-s3.txt") {
		all[code] = append(all[code], services...)
	}
	if len(all) < 150 {
		t.Fatalf("%d codes", len(all))
	}
	return all
}

// Each code that AWS may return is in the table, handled by the code of its kind, or left to be retried.
func TestEveryErrorCodeIsDecided(t *testing.T) {
	codes, handled, table := documented(t), handledCodes(t), classified()
	for _, c := range slices.Sorted(maps.Keys(codes)) {
		_, inTable := table[c]
		_, throttles := retry.DefaultThrottleErrorCodes[c]
		_, again := retried[c]
		if classed := inTable || throttles || again; !classed && handled[c] == "" {
			t.Errorf("%s of %s is in no class, and nothing looks for it: add it to errorClasses, or to retried with "+
				"the reason", c, strings.Join(codes[c], ", "))
		}
		if inTable && again {
			t.Errorf("%s is in the table, and is left out of it", c)
		}
	}
	for c := range retried {
		if codes[c] == nil {
			t.Errorf("no list has %s", c)
		}
	}
}

// unlisted are codes that Portico handles and no list has.
var unlisted = map[string]string{
	"Throttling": "common to all services", "Throttled": "common to all services",
	"TooManyRequestsException":  "common to all services",
	"RequestThrottledException": "common to all services", "EC2ThrottledException": "as the SDK has it",
	"UnknownError":                        "the SDK's name for what is no error of AWS's",
	"UnrecognizedClientException":         "of services that answer in JSON",
	"InvalidSignatureException":           "of services that answer in JSON",
	"IncompleteSignatureException":        "of services that answer in JSON",
	"MissingAuthenticationTokenException": "of services that answer in JSON",
	"SubscriptionRequiredException":       "of services that answer in JSON",
	"InvalidAction":                       "common to all services",
	"UnknownOperationException":           "of services that answer in JSON",
	"InvalidSignature":                    "of STS", "RequestInTheFuture": "as the SDK has it",
	"Forbidden":                     "the SDK's name for HTTP 403 without a body",
	"BadRequest":                    "the SDK's name for HTTP 400 without a body",
	"ServiceQuotaExceededException": "common to all services", "InvalidDomainName": "of Route 53",
	"RequestInProgressException": "of ACM, for a certificate that is not issued",

	"AWS.SimpleQueueService.NonExistentQueue":     "what SQS said before it spoke JSON",
	"AWS.SimpleQueueService.UnsupportedOperation": "what SQS said before it spoke JSON",
	"AWS.SimpleQueueService.QueueDeletedRecently": "what SQS said before it spoke JSON",
	"QueueAlreadyExists":                          "what SQS said before it spoke JSON",
	"DBInstanceNotFoundFault":                     "the SDK's type of it",
	"DBParameterGroupNotFoundFault":               "the SDK's type of it",
	"InvalidDBInstanceStateFault":                 "the SDK's type of it",
	"StorageTypeNotAvailableFault":                "the SDK's type of it",
	"DBSnapshotNotFoundFault":                     "the SDK's type of it",
	"InvalidDBSubnetGroupFault":                   "of RDS, in its list of common errors",
	"DBSubnetGroupNotAllowedFault":                "of RDS, in its list of common errors",
	"InvalidDBParameterGroupState":                "of RDS, in its list of common errors",

	"KMSAccessDenied": "of SNS, in its list of common errors", "KMSDisabled": "of SNS, in its list of common errors",
	"KMSInvalidState":  "of SNS, in its list of common errors",
	"KMSNotFound":      "of SNS, in its list of common errors",
	"KMSOptInRequired": "of SNS, in its list of common errors", "KMSThrottling": "of SNS, in its list of common errors",
	"KmsAccessDenied": "of SQS, in its list of common errors", "KmsDisabled": "of SQS, in its list of common errors",
	"KmsInvalidKeyUsage": "of SQS, in its list of common errors",
	"KmsInvalidState":    "of SQS, in its list of common errors", "KmsNotFound": "of SQS, in its list of common errors",
	"KmsOptInRequired": "of SQS, in its list of common errors",
	"KmsThrottled":     "of SQS, in its list of common errors",
}

// Every handled code exists: a misspelt one would never match.
func TestEveryCodeThatIsHandledIsListed(t *testing.T) {
	codes, known, table := documented(t), handledCodes(t), classified()
	for c := range table {
		known[c] = "errorClasses"
	}
	for c := range codeAdvice {
		if _, inTable := table[c]; !inTable {
			t.Errorf("there is advice for %s, which is in no class", c)
		}
	}
	for c, where := range known {
		prefix := strings.HasSuffix(c, ".") || codes[c] == nil && slices.ContainsFunc(slices.Collect(maps.Keys(codes)),
			func(l string) bool { return strings.HasPrefix(l, c+".") })
		if codes[c] == nil && unlisted[c] == "" && !prefix {
			t.Errorf("%s of %s is in no list: is that how AWS spells it? Add it to one, or to unlisted with the reason",
				c, where)
		}
	}
	for c := range unlisted {
		if codes[c] != nil || known[c] == "" {
			t.Errorf("%s is listed, or nothing handles it", c)
		}
	}
}
