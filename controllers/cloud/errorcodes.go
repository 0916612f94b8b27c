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
	notReady // the account, or a service of it
	badCredentials
	regionOff  // the region is off in the account; no code says so by itself
	clock      // the time of the call is off
	unverified // the identity token could not be looked at
	invalid
	lacking // a server that is not AWS does not have it
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
	"NoSuchHostedZone":           notFound, "NoSuchChange": notFound, "ResourceNotFoundException": notFound, "NotFoundException": notFound,
	"LoadBalancerNotFound": notFound, "ListenerNotFound": notFound,

	"Throttling": throttled, "ThrottlingException": throttled, "RequestLimitExceeded": throttled,
	"TooManyRequestsException": throttled, "SlowDown": throttled, "RequestThrottled": throttled,

	"RequestThrottledException": throttled, "EC2ThrottledException": throttled, "PriorRequestNotComplete": throttled,

	"Throttled": throttled, "KMSThrottling": throttled, "KmsThrottled": throttled,

	"OperationAborted": busy, "ConcurrentAccess": busy, "StaleTag": busy, "ConcurrentTagAccess": busy, "InvalidDBInstanceState": busy, "InvalidDBInstanceStateFault": busy, "InvalidDBSnapshotState": busy,
	"InvalidDBParameterGroupState": busy, "InvalidDBSecurityGroupState": busy, "InvalidDBClusterStateFault": busy,
	"InvalidDBCapacityReservationState": busy, "InvalidDBClusterEndpointStateFault": busy,
	"ResourceInUseException": busy, "RequestInProgressException": busy, "ConflictException": busy,
	"ConcurrentModification": busy, // IAM's word
	"IncorrectInstanceState": busy, "IncorrectState": busy, "IncorrectModificationState": busy,

	"AccessDenied": denied, "AccessDeniedException": denied, "UnauthorizedOperation": denied,
	"KMSAccessDenied": denied, "KmsAccessDenied": denied, "Forbidden": denied, "AuthorizationError": denied,

	"AccountProblem": notReady, "NotSignedUp": notReady, "OptInRequired": notReady, "SubscriptionRequiredException": notReady,
	"PendingVerification": notReady, "Blocked": notReady, "AllAccessDisabled": notReady, "UnauthorizedAccess": notReady,
	"KMSOptInRequired": notReady, "KmsOptInRequired": notReady, stsOff: notReady,

	"InvalidClientTokenId": badCredentials, "InvalidAccessKeyId": badCredentials, "SignatureDoesNotMatch": badCredentials,
	"ExpiredToken": badCredentials, "ExpiredTokenException": badCredentials, "UnrecognizedClientException": badCredentials,
	"AuthFailure": badCredentials, "MissingAuthenticationToken": badCredentials,
	"IncompleteSignature": badCredentials, "IDPRejectedClaim": badCredentials, "InvalidToken": badCredentials,
	"InvalidSignatureException": badCredentials, "InvalidSignature": badCredentials, "IncompleteSignatureException": badCredentials,
	"MissingAuthenticationTokenException": badCredentials, "InvalidSecurity": badCredentials, "TokenRefreshRequired": badCredentials,

	"RequestTimeTooSkewed": clock, "RequestExpired": clock, "RequestInTheFuture": clock,

	"InvalidIdentityToken": unverified, "IDPCommunicationError": unverified,

	"InvalidArgument": invalid, "InvalidRequest": invalid, "InvalidBucketName": invalid, "MalformedXML": invalid,
	"InvalidTag": invalid, "InvalidBucketState": invalid, "ValidationError": invalid, "InvalidParameterValue": invalid,
	"IllegalLocationConstraintException": invalid, "InvalidLocationConstraint": invalid,
	"PermanentRedirect": invalid, "AuthorizationHeaderMalformed": invalid, "KMS.NotFoundException": invalid,
	"InvalidStorageClass": invalid, "InvalidAddress": invalid, "InvalidKeyId": invalid,
	"MalformedPolicyDocument": invalid, "NoSuchHealthCheck": invalid, "UnsupportedProtocol": invalid,
	"KMS.DisabledException": invalid, "KMS.InvalidKeyUsageException": invalid, "KMS.InvalidStateException": invalid, "InvalidEncryptionAlgorithmError": invalid,
	"EncryptedVolumesNotSupported": invalid, "InvalidUserData.Malformed": invalid, "UnsupportedInstanceAttribute": invalid, "VPCResourceNotSpecified": invalid,
	"InvalidState":          invalid, // a topic with an archive is not deleted
	"UnsupportedArgument":   invalid,
	"InvalidAttributeValue": invalid, "InvalidAttributeName": invalid, "AWS.SimpleQueueService.UnsupportedOperation": invalid,
	"KMSNotFound": invalid, "KMSDisabled": invalid, "KMSInvalidState": invalid, "TagPolicy": invalid,
	"KmsNotFound": invalid, "KmsDisabled": invalid, "KmsInvalidState": invalid, "KmsInvalidKeyUsage": invalid,
	"InvalidParameterCombination": invalid, "DBSubnetGroupNotFoundFault": invalid, "DBSubnetGroupDoesNotCoverEnoughAZs": invalid,
	"DBSubnetGroupNotAllowedFault": invalid, "InvalidDBSubnetGroupFault": invalid, "InvalidSubnet": invalid, "InvalidVPCNetworkStateFault": invalid,
	"DBParameterGroupNotFound": invalid, "DBParameterGroupNotFoundFault": invalid, "DBSecurityGroupNotFound": invalid, "KMSKeyNotAccessibleFault": invalid,
	"StorageTypeNotSupported": invalid, "StorageTypeNotAvailableFault": invalid, "ProvisionedIopsNotAvailableInAZFault": invalid,
	"OptionGroupNotFoundFault": invalid, "InvalidParameterDependency": invalid,
	"AuthorizationNotFound": invalid, "BackupPolicyNotFoundFault": invalid, "CertificateNotFound": invalid, "DBCapacityReservationNotFound": invalid,
	"DBClusterNotFoundFault": invalid, "DBClusterSnapshotNotFoundFault": invalid, "DomainNotFoundFault": invalid, "VpcEncryptionControlViolationException": invalid,
	"DBUpgradeDependencyFailure": invalid, "InvalidRestoreFault": invalid, "DBSnapshotNotFound": invalid, "NetworkTypeNotSupported": invalid,
	"InvalidInstanceType": invalid, "Unsupported": invalid, "UnsupportedOperation": invalid,
	"InvalidParameter": invalid, "MissingParameter": invalid, "InvalidBlockDeviceMapping": invalid, "InvalidInstanceAttributeValue": invalid,
	"InvalidGroup.NotFound": invalid, "InvalidGroupId.Malformed": invalid, "InvalidSecurityGroupID.NotFound": invalid,
	"InvalidIamInstanceProfileArn.Malformed": invalid, "InvalidKeyPair.NotFound": invalid, "InvalidSubnetID.NotFound": invalid,
	"InvalidAMIID.NotFound": invalid, "InvalidAMIID.Malformed": invalid, "InvalidAMIID.Unavailable": invalid,
	"NoSuchEntity":             invalid, // IAM's word for what a spec names and is not there
	"InvalidSnapshot.NotFound": invalid, "VolumeTypeNotAvailableInZone": invalid,
	"InstanceCreditSpecification.NotSupported": invalid, "InvalidInstanceCreditSpecification": invalid,
	"InvalidSecurityGroupId.Malformed": invalid, "InvalidSnapshotID.Malformed": invalid, "InvalidTagKey.Malformed": invalid, "NonEBSInstance": invalid,
	"InvalidKMSKey.InvalidState": invalid, "TagPolicyViolation": invalid, "VolumeIOPSLimit": invalid, "VolumeTypeNotAvailableInRegion": invalid,
	"BucketHasAccessPointsAttached": invalid,
	"DeleteConflict":                invalid, "UnmodifiableEntity": invalid, "PolicyNotAttachable": invalid, // IAM's words
	"InvalidRequestException": invalid, "BadRequestException": invalid, // EKS's words

	"NotImplemented": lacking, "MethodNotAllowed": lacking,

	"InvalidChangeBatch": invalid, "InvalidInput": invalid, "InvalidDomainName": invalid, "InvalidArnException": invalid, "ValidationException": invalid,
	"InvalidDomainValidationOptionsException": invalid, "InvalidTagException": invalid, "TagPolicyException": invalid, "InvalidParameterException": invalid,

	"TopicLimitExceeded": quota, "SubscriptionLimitExceeded": quota, "FilterPolicyLimitExceeded": quota,
	"TooManyBuckets": quota, "LimitExceeded": quota, "LimitExceededException": quota, "ResourceLimitExceededException": quota, "ServiceQuotaExceededException": quota,
	"OverLimit": quota, "InstanceQuotaExceeded": quota, "StorageQuotaExceeded": quota, "SnapshotQuotaExceeded": quota,
	"DBInstanceAutomatedBackupQuotaExceeded": quota, "TenantDatabaseQuotaExceeded": quota, "ReplayLimitExceeded": quota,
	"PackedPolicyTooLarge":  quota,
	"InstanceLimitExceeded": quota, "VcpuLimitExceeded": quota, "VolumeLimitExceeded": quota, "MaxIOPSLimitExceeded": quota,
	"ResourceCountExceeded": quota, "ResourceLimitExceeded": quota, "VolumeModificationSizeLimitExceeded": quota, "TagLimitExceeded": quota, "NetworkInterfaceLimitExceeded": quota,
	"SecurityGroupsPerInterfaceLimitExceeded": quota, "TooManyTagsException": quota,
}

func classOf(err error) errorClass {
	if region, ok := errors.AsType[*regionError](err); ok && region.off {
		return regionOff
	}
	class, known := errorClasses[Code(err)]
	if class == badCredentials && saysTime(err) {
		return clock
	}
	if known {
		return class
	}
	if _, throttles := retry.DefaultThrottleErrorCodes[Code(err)]; throttles {
		return throttled
	}
	return errorClasses[typeName(err)]
}

// saysTime reports whether a signature was refused for its time. The services that answer in JSON have no code for that.
func saysTime(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && (strings.Contains(api.ErrorMessage(), "Signature expired") || strings.Contains(api.ErrorMessage(), "Signature not yet current"))
}
