package cloud

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
)

type errorClass int

const (
	transient errorClass = iota
	notFound
	throttled
	busy
	denied
	notReady // the account, or a service in it
	badCredentials
	regionOff  // the region is off in the account; no single code means this
	clock      // the request's time is off
	unverified // the identity token could not be verified
	invalid
	lacking // not implemented by a server that is not AWS
	quota
)

// classTable maps each code to its class, by service.
type classTable map[string]map[string]errorClass

// anyService is the key of codes with the same meaning for every service: AWS's documented common errors, and those
// that very many services share.
const anyService = ""

// errorClasses maps AWS error codes to classes, by the SDK's service ID: the same code may mean "wait" for one service
// and "a limit is reached" for another. An unknown code is throttling if the SDK says so, and else retried with
// back-off.
var errorClasses = classTable{
	anyService: {
		"EC2ThrottledException": throttled, "PriorRequestNotComplete": throttled, "RequestLimitExceeded": throttled,
		"RequestThrottled": throttled, "RequestThrottledException": throttled, "SlowDown": throttled,
		"Throttled": throttled, "Throttling": throttled, "ThrottlingException": throttled,
		"TooManyRequestsException": throttled,
		"AccessDenied":             denied, "AccessDeniedException": denied, "AuthorizationError": denied,
		"Forbidden":             denied,
		"UnauthorizedOperation": denied,
		"AccountProblem":        notReady, "AllAccessDisabled": notReady, "Blocked": notReady, "NotSignedUp": notReady,
		"OptInRequired": notReady, "PendingVerification": notReady, stsOff: notReady,
		"SubscriptionRequiredException": notReady, "UnauthorizedAccess": notReady,
		"AuthFailure": badCredentials, "ExpiredToken": badCredentials, "ExpiredTokenException": badCredentials,
		"IDPRejectedClaim": badCredentials, "IncompleteSignature": badCredentials,
		"IncompleteSignatureException": badCredentials, "InvalidAccessKeyId": badCredentials,
		"InvalidClientTokenId": badCredentials, "InvalidSecurity": badCredentials, "InvalidSignature": badCredentials,
		"InvalidSignatureException": badCredentials, "InvalidToken": badCredentials,
		"MissingAuthenticationToken": badCredentials, "MissingAuthenticationTokenException": badCredentials,
		"SignatureDoesNotMatch": badCredentials, "TokenRefreshRequired": badCredentials,
		"UnrecognizedClientException": badCredentials,
		"RequestExpired":              clock, "RequestInTheFuture": clock, "RequestTimeTooSkewed": clock,
		"IDPCommunicationError": unverified, "InvalidIdentityToken": unverified,
		"ServiceQuotaExceededException": quota,
	},
	"ACM": {
		"ResourceNotFoundException": notFound,
		"ConflictException":         busy, "RequestInProgressException": busy, "ResourceInUseException": busy,
		"InvalidArnException": invalid, "InvalidDomainValidationOptionsException": invalid,
		"InvalidParameterException": invalid, "InvalidTagException": invalid, "TagPolicyException": invalid,
		"ValidationException":    invalid,
		"LimitExceededException": quota, "TooManyTagsException": quota,
	},
	"EC2": {
		"InvalidInstanceID.NotFound": notFound,
		"ConcurrentTagAccess":        busy, "IncorrectInstanceState": busy, "IncorrectModificationState": busy,
		"IncorrectState":               busy,
		"EncryptedVolumesNotSupported": invalid, "InstanceCreditSpecification.NotSupported": invalid,
		"InvalidAMIID.Malformed": invalid, "InvalidAMIID.NotFound": invalid, "InvalidAMIID.Unavailable": invalid,
		"InvalidBlockDeviceMapping": invalid, "InvalidGroup.NotFound": invalid, "InvalidGroupId.Malformed": invalid,
		"InvalidIamInstanceProfileArn.Malformed": invalid, "InvalidInstanceAttributeValue": invalid,
		"InvalidInstanceCreditSpecification": invalid, "InvalidInstanceType": invalid,
		"InvalidKMSKey.InvalidState": invalid, "InvalidKeyPair.NotFound": invalid, "InvalidParameter": invalid,
		"InvalidParameterCombination": invalid, "InvalidParameterDependency": invalid, "InvalidParameterValue": invalid,
		"InvalidSecurityGroupID.NotFound": invalid, "InvalidSecurityGroupId.Malformed": invalid,
		"InvalidSnapshot.NotFound": invalid, "InvalidSnapshotID.Malformed": invalid, "InvalidSubnet": invalid,
		"InvalidSubnetID.NotFound": invalid, "InvalidTagKey.Malformed": invalid, "InvalidUserData.Malformed": invalid,
		"MissingParameter": invalid, "NonEBSInstance": invalid, "TagPolicyViolation": invalid, "Unsupported": invalid,
		"UnsupportedInstanceAttribute": invalid, "UnsupportedOperation": invalid, "VPCResourceNotSpecified": invalid,
		"ValidationError": invalid, "VolumeIOPSLimit": invalid, "VolumeTypeNotAvailableInRegion": invalid,
		"VolumeTypeNotAvailableInZone": invalid,
		"InstanceLimitExceeded":        quota, "MaxIOPSLimitExceeded": quota, "NetworkInterfaceLimitExceeded": quota,
		"ResourceCountExceeded": quota, "ResourceLimitExceeded": quota,
		"SecurityGroupsPerInterfaceLimitExceeded": quota,
		"TagLimitExceeded":                        quota, "VcpuLimitExceeded": quota, "VolumeLimitExceeded": quota,
		"VolumeModificationSizeLimitExceeded": quota,
	},
	"EKS": {
		"NotFoundException": notFound, "ResourceNotFoundException": notFound,
		"ResourceInUseException": busy,
		"BadRequestException":    invalid, "InvalidParameterException": invalid, "InvalidRequestException": invalid,
		"ResourceLimitExceededException": quota,
	},
	"Elastic Load Balancing v2": {
		"ListenerNotFound": notFound, "LoadBalancerNotFound": notFound,
		"UnsupportedProtocol": invalid,
	},
	"IAM": {
		"ConcurrentModification": busy,
		"DeleteConflict":         invalid, "InvalidInput": invalid, "MalformedPolicyDocument": invalid,
		"NoSuchEntity":        invalid,
		"PolicyNotAttachable": invalid, "UnmodifiableEntity": invalid,
		"LimitExceeded": quota,
	},
	"KMS": {
		"NotFoundException":   notFound,
		"InvalidArnException": invalid, "KMSInvalidStateException": invalid,
	},
	"RDS": {
		"DBInstanceNotFound": notFound, "DBInstanceNotFoundFault": notFound,
		"InvalidDBCapacityReservationState": busy, "InvalidDBClusterEndpointStateFault": busy,
		"InvalidDBClusterStateFault": busy, "InvalidDBInstanceState": busy, "InvalidDBInstanceStateFault": busy,
		"InvalidDBParameterGroupState": busy, "InvalidDBSecurityGroupState": busy, "InvalidDBSnapshotState": busy,
		"AuthorizationNotFound": invalid, "BackupPolicyNotFoundFault": invalid, "CertificateNotFound": invalid,
		"DBCapacityReservationNotFound": invalid, "DBClusterNotFoundFault": invalid,
		"DBClusterSnapshotNotFoundFault": invalid, "DBParameterGroupNotFound": invalid,
		"DBParameterGroupNotFoundFault": invalid, "DBSecurityGroupNotFound": invalid, "DBSnapshotNotFound": invalid,
		"DBSubnetGroupDoesNotCoverEnoughAZs": invalid, "DBSubnetGroupNotAllowedFault": invalid,
		"DBSubnetGroupNotFoundFault": invalid, "DBUpgradeDependencyFailure": invalid, "DomainNotFoundFault": invalid,
		"InvalidDBSubnetGroupFault": invalid, "InvalidRestoreFault": invalid, "InvalidSubnet": invalid,
		"InvalidVPCNetworkStateFault": invalid, "KMSKeyNotAccessibleFault": invalid, "NetworkTypeNotSupported": invalid,
		"OptionGroupNotFoundFault": invalid, "ProvisionedIopsNotAvailableInAZFault": invalid,
		"StorageTypeNotAvailableFault": invalid, "StorageTypeNotSupported": invalid,
		"VpcEncryptionControlViolationException": invalid,
		"DBInstanceAutomatedBackupQuotaExceeded": quota, "InstanceQuotaExceeded": quota, "SnapshotQuotaExceeded": quota,
		"StorageQuotaExceeded": quota, "TenantDatabaseQuotaExceeded": quota,
	},
	"Resource Groups Tagging API": {
		"InvalidParameterException": invalid,
	},
	"Route 53": {
		"NoSuchChange": notFound, "NoSuchHostedZone": notFound,
		"InvalidChangeBatch": invalid, "InvalidDomainName": invalid, "InvalidInput": invalid,
		"NoSuchHealthCheck": invalid,
	},
	"S3": {
		"NoSuchBucket":                 notFound,
		"OperationAborted":             busy,
		"AuthorizationHeaderMalformed": invalid, "BucketHasAccessPointsAttached": invalid,
		"IllegalLocationConstraintException": invalid, "InvalidArgument": invalid, "InvalidBucketName": invalid,
		"InvalidBucketState": invalid, "InvalidEncryptionAlgorithmError": invalid, "InvalidLocationConstraint": invalid,
		"InvalidRequest": invalid, "InvalidStorageClass": invalid, "InvalidTag": invalid,
		"KMS.DisabledException":        invalid,
		"KMS.InvalidKeyUsageException": invalid, "KMS.InvalidStateException": invalid, "KMS.NotFoundException": invalid,
		"MalformedPolicy": invalid, "MalformedXML": invalid, "PermanentRedirect": invalid,
		"UnsupportedArgument": invalid,
		"MethodNotAllowed":    lacking, "NotImplemented": lacking,
		"TooManyBuckets": quota, "TooManyTagsException": quota,
	},
	"SNS": {
		"NotFound": notFound, "ResourceNotFound": notFound,
		"KMSThrottling":    throttled,
		"ConcurrentAccess": busy, "StaleTag": busy,
		"KMSAccessDenied":  denied,
		"KMSOptInRequired": notReady,
		"InvalidParameter": invalid, "InvalidState": invalid, "KMSDisabled": invalid, "KMSInvalidState": invalid,
		"KMSNotFound": invalid, "TagPolicy": invalid,
		"FilterPolicyLimitExceeded": quota, "ReplayLimitExceeded": quota, "SubscriptionLimitExceeded": quota,
		"TagLimitExceeded": quota, "TopicLimitExceeded": quota,
	},
	"SQS": {
		"AWS.SimpleQueueService.NonExistentQueue": notFound, "QueueDoesNotExist": notFound,
		"KmsThrottled":     throttled,
		"KmsAccessDenied":  denied,
		"KmsOptInRequired": notReady,
		"AWS.SimpleQueueService.UnsupportedOperation": invalid, "InvalidAddress": invalid,
		"InvalidAttributeName":  invalid,
		"InvalidAttributeValue": invalid, "KmsDisabled": invalid, "KmsInvalidKeyUsage": invalid,
		"KmsInvalidState": invalid, "KmsNotFound": invalid, "UnsupportedOperation": invalid,
		"OverLimit": quota,
	},
	"SSM": {
		"InvalidKeyId": invalid,
	},
	"STS": {
		"MalformedPolicyDocument": invalid,
		"PackedPolicyTooLarge":    quota,
	},
}

func classOf(err error) errorClass {
	if region, ok := errors.AsType[*regionError](err); ok && region.off {
		return regionOff
	}
	class, known := errorClasses.classFor(serviceOf(err), Code(err))
	if class == badCredentials && saysTime(err) {
		return clock
	}
	if known {
		return class
	}
	if _, throttles := retry.DefaultThrottleErrorCodes[Code(err)]; throttles {
		return throttled
	}
	class, _ = errorClasses.classFor(serviceOf(err), typeName(err))
	return class
}

// serviceOf returns the SDK's ID of the service that was called; empty if err does not have it.
func serviceOf(err error) string {
	if op, ok := errors.AsType[*smithy.OperationError](err); ok {
		return op.ServiceID
	}
	return ""
}

// classFor returns the class of a service's code. A code known only of other services has their meaning if they all
// agree, else none.
func (t classTable) classFor(service, code string) (class errorClass, known bool) {
	if class, known = t[service][code]; known {
		return class, true
	}
	if class, known = t[anyService][code]; known {
		return class, true
	}
	for _, codes := range t {
		other, has := codes[code]
		switch {
		case has && known && other != class:
			return transient, false
		case has:
			class, known = other, true
		}
	}
	return class, known
}

// saysTime reports whether a signature was refused because of its time. Services with JSON protocols have no code for
// that.
func saysTime(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && (strings.Contains(api.ErrorMessage(), "Signature expired") ||
		strings.Contains(api.ErrorMessage(), "Signature not yet current"))
}
