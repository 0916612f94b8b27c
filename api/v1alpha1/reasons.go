package v1alpha1

// Reasons of the Ready condition, and of the conditions of steps, of any kind. Scripts and alerts go by reasons: they do not
// change.
const (
	ReasonConflict      = "Conflict"
	ReasonDone          = "Done"
	ReasonFailed        = "Failed"
	ReasonGatewayFailed = "GatewayFailed"
	ReasonInSync        = "InSync"
	ReasonInUse         = "InUse"
	ReasonInvalidSpec   = "InvalidSpec"
	ReasonRefused       = "Refused"
	ReasonSettling      = "Settling"
	ReasonTimedOut      = "TimedOut"
	ReasonWaiting       = "Waiting"
)

// Reasons of resources in AWS.
const (
	ReasonAccessDenied         = "AccessDenied"
	ReasonAccountMismatch      = "AccountMismatch"
	ReasonAlreadyExists        = "AlreadyExists"
	ReasonBindingConflict      = "BindingConflict"
	ReasonBindingPending       = "BindingPending"
	ReasonBusy                 = "Busy"
	ReasonConfigMapKeyNotFound = "ConfigMapKeyNotFound"
	ReasonConfigMapNotFound    = "ConfigMapNotFound"
	ReasonCreating             = "Creating"
	ReasonCredentialsRejected  = "CredentialsRejected"
	ReasonDiffers              = "Differs"
	ReasonEndpointNotAllowed   = "EndpointNotAllowed"
	ReasonExternallyDeleted    = "ExternallyDeleted"
	ReasonImmutableDiffers     = "ImmutableDiffers"
	ReasonInsufficientCapacity = "InsufficientCapacity"
	ReasonInvalidProvider      = "InvalidProvider"
	ReasonNamespaceTerminating = "NamespaceTerminating"
	ReasonNoWebIdentity        = "NoWebIdentity"
	ReasonNotFound             = "NotFound"
	ReasonNotKept              = "NotKept"
	ReasonProviderDeleting     = "ProviderDeleting"
	ReasonProviderNotAllowed   = "ProviderNotAllowed"
	ReasonProviderNotFound     = "ProviderNotFound"
	ReasonProviderNotReady     = "ProviderNotReady"
	ReasonQuotaExceeded        = "QuotaExceeded"
	ReasonReferenceNotAllowed  = "ReferenceNotAllowed"
	ReasonRegionNotAllowed     = "RegionNotAllowed"
	ReasonSecretKeyNotFound    = "SecretKeyNotFound"
	ReasonSecretNotFound       = "SecretNotFound"
	ReasonSecretNotLabelled    = "SecretNotLabelled"
	ReasonSnapshotNotAllowed   = "SnapshotNotAllowed"
	ReasonStopped              = "Stopped"
	ReasonStopping             = "Stopping"
	ReasonTagForbidden         = "TagForbidden"
	ReasonThrottled            = "Throttled"
)

// Reasons of EC2Instances.
const (
	ReasonAmbiguous                      = "Ambiguous"
	ReasonCannotStop                     = "CannotStop"
	ReasonImageParameterInvalid          = "ImageParameterInvalid"
	ReasonImageParameterNotFound         = "ImageParameterNotFound"
	ReasonLaunchFailed                   = "LaunchFailed"
	ReasonLaunchUnclear                  = "LaunchUnclear"
	ReasonNoChoice                       = "NoChoice"
	ReasonPending                        = "Pending"
	ReasonShuttingDown                   = "ShuttingDown"
	ReasonStopNeeded                     = "StopNeeded"
	ReasonStopPlanned                    = "StopPlanned"
	ReasonStopProtected                  = "StopProtected"
	ReasonTerminationProtected           = "TerminationProtected"
	ReasonTypeDoesNotFit                 = "TypeDoesNotFit"
	ReasonTypeNotOffered                 = "TypeNotOffered"
	ReasonUserDataTooLong                = "UserDataTooLong"
	ReasonVolumeCannotShrink             = "VolumeCannotShrink"
	ReasonVolumeMissing                  = "VolumeMissing"
	ReasonVolumeModificationRateExceeded = "VolumeModificationRateExceeded"
	ReasonVolumeModifying                = "VolumeModifying"
)

// Reasons of RDSInstances.
const (
	ReasonDeletedOutside          = "DeletedOutside"
	ReasonDeletionProtected       = "DeletionProtected"
	ReasonDowngradeImpossible     = "DowngradeImpossible"
	ReasonFinalSnapshotExists     = "FinalSnapshotExists"
	ReasonFinalSnapshotImpossible = "FinalSnapshotImpossible"
	ReasonInvalidPassword         = "InvalidPassword"
	ReasonMajorUpgradeNotAllowed  = "MajorUpgradeNotAllowed"
	ReasonModifying               = "Modifying"
	ReasonPasswordChanging        = "PasswordChanging"
	ReasonRotationWaits           = "RotationWaits"
	ReasonSecretCreating          = "SecretCreating"
	ReasonSecretImpaired          = "SecretImpaired"
	ReasonSnapshotCreating        = "SnapshotCreating"
	ReasonSnapshotMismatch        = "SnapshotMismatch"
	ReasonSnapshotNotFound        = "SnapshotNotFound"
	ReasonStorageOptimizing       = "StorageOptimizing"
)

// Reasons of S3Buckets.
const (
	ReasonBucketNotEmpty    = "BucketNotEmpty"
	ReasonEmptying          = "Emptying"
	ReasonNameTakenOrDenied = "NameTakenOrDenied"
	ReasonObjectsKept       = "ObjectsKept"
)

// Reasons of SNSTopics.
const (
	ReasonQueueMismatch    = "QueueMismatch"
	ReasonSubscribedTo     = "SubscribedTo"
	ReasonWaitingForQueues = "WaitingForQueues"
)

// Reasons of SQSQueues.
const (
	ReasonDeadLetterQueueMismatch   = "DeadLetterQueueMismatch"
	ReasonNameBusy                  = "NameBusy"
	ReasonWaitingForDeadLetterQueue = "WaitingForDeadLetterQueue"
)

// Reasons of hostnames.
const (
	ReasonCertificateFailed  = "CertificateFailed"
	ReasonCertificateLost    = "CertificateLost"
	ReasonCertificateOver    = "CertificateOver"
	ReasonCertificatePending = "CertificatePending"
	ReasonCertificatesPaced  = "CertificatesPaced"
	ReasonClaiming           = "Claiming"
	ReasonDelegated          = "Delegated"
	ReasonDetaching          = "Detaching"
	ReasonGatewayLost        = "GatewayLost"
	ReasonHeld               = "Held"
	ReasonHolderGone         = "HolderGone"
	ReasonInvalidHostname    = "InvalidHostname"
	ReasonListenerPending    = "ListenerPending"
	ReasonNoValidationZone   = "NoValidationZone"
	ReasonNotAuthorized      = "NotAuthorized"
	ReasonNotGranted         = "NotGranted"
	ReasonNotInZone          = "NotInZone"
	ReasonPrivateZone        = "PrivateZone"
	ReasonPropagating        = "Propagating"
	ReasonReleasing          = "Releasing"
	ReasonTaken              = "Taken"
	ReasonTooManyHostnames   = "TooManyHostnames"
	ReasonValidationPending  = "ValidationPending"
	ReasonZoneNotFound       = "ZoneNotFound"
)

// Reasons of PoolGateways.
const (
	ReasonCertificatesPending  = "CertificatesPending"
	ReasonChangesWait          = "ChangesWait"
	ReasonClassNotFound        = "ClassNotFound"
	ReasonClassOfAnother       = "ClassOfAnother"
	ReasonClassOverrides       = "ClassOverrides"
	ReasonGatewayPending       = "GatewayPending"
	ReasonIdle                 = "Idle"
	ReasonLoadBalancerNotFound = "LoadBalancerNotFound"
	ReasonOverBudget           = "OverBudget"
	ReasonPoolFull             = "PoolFull"
)

// Reasons of WebApps, and of the Kubernetes objects that Portico makes.
const (
	ReasonBindingNotFound          = "BindingNotFound"
	ReasonBindingsCollide          = "BindingsCollide"
	ReasonChangedAtTheSameTime     = "ChangedAtTheSameTime"
	ReasonCrashLoopBackOff         = "CrashLoopBackOff"
	ReasonDeploymentPaused         = "DeploymentPaused"
	ReasonHostnameNotFound         = "HostnameNotFound"
	ReasonHostnamesOff             = "HostnamesOff"
	ReasonImagePullBackOff         = "ImagePullBackOff"
	ReasonInvalid                  = "Invalid"
	ReasonMadeAtTheSameTime        = "MadeAtTheSameTime"
	ReasonProbeFailing             = "ProbeFailing"
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	ReasonRollbackImpossible       = "RollbackImpossible"
	ReasonRolledOut                = "RolledOut"
	ReasonRollingBack              = "RollingBack"
	ReasonRollingOut               = "RollingOut"
	ReasonRoutePending             = "RoutePending"
	ReasonRouteRefused             = "RouteRefused"
	ReasonUnschedulable            = "Unschedulable"
	ReasonWaitingForBinding        = "WaitingForBinding"
	ReasonWaitingForDeletion       = "WaitingForDeletion"
	ReasonWaitingForHostname       = "WaitingForHostname"
)

// Reasons of databases that RDS itself shows as broken.
const (
	ReasonDatabaseFailed          = "DatabaseFailed"
	ReasonIncompatible            = "Incompatible"
	ReasonIncompatibleCredentials = "IncompatibleCredentials"
	ReasonIncompatibleNetwork     = "IncompatibleNetwork"
	ReasonIncompatibleOptionGroup = "IncompatibleOptionGroup"
	ReasonIncompatibleParameters  = "IncompatibleParameters"
	ReasonKeyNotAccessible        = "KeyNotAccessible"
	ReasonStorageFull             = "StorageFull"
)

// Reasons of conditions beside Ready and the steps.
const (
	ReasonApplied                     = "Applied"
	ReasonChecking                    = "Checking"
	ReasonMinimumReplicasAvailable    = "MinimumReplicasAvailable"
	ReasonMinimumReplicasUnavailable  = "MinimumReplicasUnavailable"
	ReasonPaused                      = "Paused"
	ReasonRateExceeded                = "RateExceeded"
	ReasonVerified                    = "Verified"
	ReasonWaitingForMaintenanceWindow = "WaitingForMaintenanceWindow"
	ReasonWaitingForReboot            = "WaitingForReboot"
	ReasonWithin                      = "Within"
)

// Reasons of events that tell of an act, and of no outcome.
const (
	ReasonAuthenticated        = "Authenticated"
	ReasonCertificateFound     = "CertificateFound"
	ReasonCertificateRequested = "CertificateRequested"
	ReasonClaimed              = "Claimed"
	ReasonCreated              = "Created"
	ReasonHostnameClosed       = "HostnameClosed"
	ReasonHostnameOpened       = "HostnameOpened"
	ReasonInvalidAnnotation    = "InvalidAnnotation"
	ReasonNotOurs              = "NotOurs"
	ReasonOrphaned             = "Orphaned"
	ReasonPasswordChanged      = "PasswordChanged"
	ReasonRecordCreated        = "RecordCreated"
	ReasonRecordsLeft          = "RecordsLeft"
	ReasonRecreateAcknowledged = "RecreateAcknowledged"
	ReasonRecreated            = "Recreated"
	ReasonRemoved              = "Removed"
	ReasonRenewalLate          = "RenewalLate"
	ReasonRepaired             = "Repaired"
	ReasonRetained             = "Retained"
	ReasonRolledBack           = "RolledBack"
	ReasonRotationIgnored      = "RotationIgnored"
	ReasonTagsLeft             = "TagsLeft"
	ReasonUpdated              = "Updated"
)
