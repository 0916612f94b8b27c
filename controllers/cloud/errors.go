package cloud

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

type errorClass int

const (
	transient errorClass = iota
	notFound
	throttled
	busy
	denied
	badCredentials
	invalid
	quota
)

// errorClasses is what Portico knows of AWS error codes. A code that is not here is throttling if the SDK says so, and else tried
// again with back-off.
var errorClasses = map[string]errorClass{
	"NoSuchBucket": notFound,
	"AWS.SimpleQueueService.NonExistentQueue": notFound, "QueueDoesNotExist": notFound,

	"NotFound": notFound, "ResourceNotFound": notFound, // SNS's words

	"DBInstanceNotFound": notFound, "DBInstanceNotFoundFault": notFound,
	"InvalidInstanceID.NotFound": notFound,
	"NoSuchHostedZone":           notFound, "NoSuchChange": notFound, "ResourceNotFoundException": notFound,
	"LoadBalancerNotFound": notFound, "ListenerNotFound": notFound,

	"Throttling": throttled, "ThrottlingException": throttled, "RequestLimitExceeded": throttled,
	"TooManyRequestsException": throttled, "SlowDown": throttled, "RequestThrottled": throttled,

	"RequestThrottledException": throttled, "EC2ThrottledException": throttled, "PriorRequestNotComplete": throttled,

	"Throttled": throttled, "KMSThrottling": throttled, "KmsThrottled": throttled,

	"OperationAborted": busy, "ConcurrentAccess": busy, "StaleTag": busy, "InvalidDBInstanceState": busy, "InvalidDBInstanceStateFault": busy, "InvalidDBSnapshotState": busy,
	"InvalidDBParameterGroupState": busy,
	"ResourceInUseException":       busy, "RequestInProgressException": busy, "ConflictException": busy,
	"IncorrectInstanceState": busy, "IncorrectState": busy, "IncorrectModificationState": busy,

	"AccessDenied": denied, "AccessDeniedException": denied, "UnauthorizedOperation": denied,
	"AccountProblem": denied, "NotSignedUp": denied, "OptInRequired": denied, "SubscriptionRequiredException": denied,
	"PendingVerification": denied, "Blocked": denied,
	"KMSAccessDenied": denied, "KmsAccessDenied": denied, "AllAccessDisabled": denied, "Forbidden": denied, "AuthorizationError": denied,

	"InvalidClientTokenId": badCredentials, "InvalidAccessKeyId": badCredentials, "SignatureDoesNotMatch": badCredentials,
	"ExpiredToken": badCredentials, "ExpiredTokenException": badCredentials, "UnrecognizedClientException": badCredentials,
	"AuthFailure": badCredentials, "MissingAuthenticationToken": badCredentials, "InvalidIdentityToken": badCredentials,
	"IncompleteSignature": badCredentials, "IDPRejectedClaim": badCredentials, "RequestTimeTooSkewed": badCredentials, "InvalidToken": badCredentials,
	"InvalidSignatureException": badCredentials, "InvalidSignature": badCredentials, "IncompleteSignatureException": badCredentials,
	"MissingAuthenticationTokenException": badCredentials, "InvalidSecurity": badCredentials,
	"RequestExpired": badCredentials,

	"InvalidArgument": invalid, "InvalidRequest": invalid, "InvalidBucketName": invalid, "MalformedXML": invalid,
	"InvalidTag": invalid, "InvalidBucketState": invalid, "ValidationError": invalid, "InvalidParameterValue": invalid,
	"IllegalLocationConstraintException": invalid, "InvalidLocationConstraint": invalid,
	"PermanentRedirect": invalid, "AuthorizationHeaderMalformed": invalid, "KMS.NotFoundException": invalid,
	"RegionDisabledException": invalid,
	"InvalidAttributeValue":   invalid, "InvalidAttributeName": invalid, "AWS.SimpleQueueService.UnsupportedOperation": invalid,
	"KMSNotFound": invalid, "KMSDisabled": invalid, "KMSInvalidState": invalid, "KMSOptInRequired": invalid, "TagPolicy": invalid,
	"KmsNotFound": invalid, "KmsDisabled": invalid, "KmsInvalidState": invalid, "KmsInvalidKeyUsage": invalid, "KmsOptInRequired": invalid,
	"InvalidParameterCombination": invalid, "DBSubnetGroupNotFoundFault": invalid, "DBSubnetGroupDoesNotCoverEnoughAZs": invalid,
	"DBSubnetGroupNotAllowedFault": invalid, "InvalidDBSubnetGroupFault": invalid, "InvalidSubnet": invalid, "InvalidVPCNetworkStateFault": invalid,
	"DBParameterGroupNotFound": invalid, "DBParameterGroupNotFoundFault": invalid, "DBSecurityGroupNotFound": invalid, "KMSKeyNotAccessibleFault": invalid,
	"StorageTypeNotSupported": invalid, "StorageTypeNotAvailableFault": invalid, "ProvisionedIopsNotAvailableInAZFault": invalid,
	"OptionGroupNotFoundFault": invalid, "InvalidParameterDependency": invalid,
	"DBUpgradeDependencyFailure": invalid, "InvalidRestoreFault": invalid, "DBSnapshotNotFound": invalid, "NetworkTypeNotSupported": invalid,
	"InvalidInstanceType": invalid, "Unsupported": invalid, "UnsupportedOperation": invalid, "UnsupportedInstanceTypeOnAvailabilityZone": invalid,
	"InvalidParameter": invalid, "MissingParameter": invalid, "InvalidBlockDeviceMapping": invalid, "InvalidInstanceAttributeValue": invalid,
	"InvalidGroup.NotFound": invalid, "InvalidGroupId.Malformed": invalid, "InvalidSecurityGroupID.NotFound": invalid,
	"InvalidIamInstanceProfileArn.Malformed": invalid, "InvalidKeyPair.NotFound": invalid, "InvalidSubnetID.NotFound": invalid,
	"InvalidAMIID.NotFound": invalid, "InvalidAMIID.Malformed": invalid, "InvalidAMIID.Unavailable": invalid,
	"NoSuchEntity":             invalid, // IAM's word for what a spec names and is not there
	"InvalidSnapshot.NotFound": invalid, "VolumeTypeNotAvailableInZone": invalid,
	"InvalidChangeBatch": invalid, "InvalidInput": invalid, "InvalidDomainName": invalid, "InvalidArnException": invalid, "ValidationException": invalid,
	"InvalidDomainValidationOptionsException": invalid, "InvalidTagException": invalid, "TagPolicyException": invalid, "InvalidParameterException": invalid,

	"TopicLimitExceeded": quota, "SubscriptionLimitExceeded": quota, "FilterPolicyLimitExceeded": quota,
	"TooManyBuckets": quota, "LimitExceeded": quota, "LimitExceededException": quota, "ServiceQuotaExceededException": quota,
	"OverLimit": quota, "InstanceQuotaExceeded": quota, "StorageQuotaExceeded": quota, "SnapshotQuotaExceeded": quota,
	"DBInstanceAutomatedBackupQuotaExceeded": quota,
	"InstanceLimitExceeded":                  quota, "VcpuLimitExceeded": quota, "VolumeLimitExceeded": quota, "MaxIOPSLimitExceeded": quota,
	"ResourceCountExceeded": quota, "TagLimitExceeded": quota,
	"SecurityGroupsPerInterfaceLimitExceeded": quota, "FilterLimitExceeded": quota, "TooManyTagsException": quota,
}

func classOf(err error) errorClass {
	class, known := errorClasses[Code(err)]
	if _, throttles := retry.DefaultThrottleErrorCodes[Code(err)]; !known && throttles {
		return throttled
	}
	return class
}

// IsNotFound reports whether the resource is absent, and not the call failed. Only a service's own not-found code counts.
func IsNotFound(err error) bool { return classOf(err) == notFound }

// IsDenied reports whether a permission is missing.
func IsDenied(err error) bool { return classOf(err) == denied }

// IsCall reports whether err is of a call to AWS: only that one is for Explain.
func IsCall(err error) bool {
	_, ok := errors.AsType[*smithy.OperationError](err)
	return ok
}

// Code returns the error code that AWS answered with, empty if err is no answer of AWS.
func Code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// HasCode reports whether AWS answered with exactly this error code.
func HasCode(err error, code string) bool { return Code(err) == code }

// Explain turns an AWS error into an outcome that the engine knows, with a text that a user can act on and that is the
// same each time the same thing happens. nil stays nil.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	text := stableText(err)
	if errors.Is(err, errRateLimited) {
		return engine.Wait(v1alpha1.ReasonThrottled, 5*time.Second, "%s. Portico has as many calls to make as it allows itself, and goes on as they are done", text)
	}
	switch classOf(err) {
	case throttled:
		return engine.Wait(v1alpha1.ReasonThrottled, 5*time.Second, "%s. AWS limits the rate of calls; Portico slows down and goes on", text)
	case busy:
		return engine.Wait(v1alpha1.ReasonBusy, 10*time.Second, "%s. AWS is still at work on this resource; Portico tries again", text)
	case denied:
		return engine.Blocked(v1alpha1.ReasonAccessDenied, "%s. The provider's identity lacks this permission: ask a platform admin to grant it; Portico tries again by itself, at least every 5 minutes", text)
	case badCredentials:
		// Without AWS's message: it may hold the time, or parts of what was signed.
		return engine.Blocked(v1alpha1.ReasonCredentialsRejected, "%s. AWS does not accept the provider's credentials: ask a platform admin to renew them", text)
	case invalid:
		return engine.Blocked(v1alpha1.ReasonInvalidSpec, "%s. Change the spec; Portico tries again at once after an edit", text)
	case quota:
		return engine.Blocked(v1alpha1.ReasonQuotaExceeded, "%s. The account has reached a limit: delete what is not needed, or ask a platform admin to raise the quota", text)
	default: // a not-found that nobody expected is as good as any other failure
	}
	return &callError{text: text, err: err}
}

// callError keeps the cause for errors.Is and As, and shows only the stable text.
type callError struct {
	text string
	err  error
}

func (e *callError) Error() string { return e.text }

func (e *callError) Unwrap() error { return e.err }

// stableText says which call failed and why, without request IDs, ports or anything else that changes from try to try:
// such a text in a condition would re-trigger every watcher for ever.
func stableText(err error) string {
	call := "AWS"
	if op, ok := errors.AsType[*smithy.OperationError](err); ok {
		call = op.ServiceID + " " + op.OperationName
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		if classOf(err) == badCredentials {
			return call + ": " + api.ErrorCode()
		}
		message := changing.ReplaceAllString(api.ErrorMessage(), "$1…")
		return fmt.Sprintf("%s: %s: %s", call, api.ErrorCode(), strings.TrimRight(message, ". "))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return call + ": no answer in time"
	}
	if cert, ok := errors.AsType[x509.CertificateInvalidError](err); ok && cert.Reason == x509.Expired {
		return call + ": the server's certificate has expired, or is not valid yet" // without the time of each try
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("%s: no address found for %s", call, dns.Name)
	}
	return fmt.Sprintf("%s: %v", call, innermost(err))
}

// changing finds the parts of AWS's messages that differ each time.
var changing = regexp.MustCompile(`(?i)((?:request ?id|host ?id|authorization failure message): ?)[^\s,;)]+`)

// innermost returns the cause at the bottom: the layers of net add addresses and ports.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
