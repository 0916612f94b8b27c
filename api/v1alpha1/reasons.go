package v1alpha1

// Reasons of the Ready condition, and of the conditions of steps, of any kind; those of one kind stand beside its type.
// Scripts and alerts go by reasons: they do not change.
const (
	ReasonConflict      = "Conflict"      // something of the same name exists that Portico did not create, and it stays as it is
	ReasonDone          = "Done"          // this step is done
	ReasonFailed        = "Failed"        // a call failed; Portico tries again, at first after a second, later every 5 minutes
	ReasonGatewayFailed = "GatewayFailed" // the load balancer controller reports an error with the Gateway
	ReasonInSync        = "InSync"        // everything is as the spec says
	ReasonInUse         = "InUse"         // it is being deleted, and something still uses it
	ReasonInvalidSpec   = "InvalidSpec"   // the spec has a value that cannot work, or that AWS rejects
	ReasonRefused       = "Refused"       // the cluster, or Route 53, refuses what Portico would write
	ReasonSettling      = "Settling"      // AWS took a change and does not show it yet
	ReasonTimedOut      = "TimedOut"      // a call took too long; Portico tries again
	ReasonWaiting       = "Waiting"       // an earlier step has to be done first
)

// Reasons of resources in AWS.
const (
	ReasonAccessDenied         = "AccessDenied"         // Portico lacks a permission in AWS
	ReasonAccountMismatch      = "AccountMismatch"      // the credentials belong to another AWS account than the one that was named
	ReasonAccountNotReady      = "AccountNotReady"      // AWS has not activated the account for this service, or has blocked it
	ReasonAccountNotStated     = "AccountNotStated"     // nobody can be asked which account the credentials belong to, and the AWSProvider does not name it
	ReasonAlreadyExists        = "AlreadyExists"        // AWS has something of this name that is not this resource's
	ReasonBindingConflict      = "BindingConflict"      // the Secret for the connection details exists and is not Portico's
	ReasonBindingPending       = "BindingPending"       // an earlier Secret of the same name is being deleted
	ReasonBusy                 = "Busy"                 // AWS is working on an earlier change and takes no other
	ReasonConfigMapKeyNotFound = "ConfigMapKeyNotFound" // the ConfigMap has no such key
	ReasonConfigMapNotFound    = "ConfigMapNotFound"    // there is no such ConfigMap
	ReasonCreating             = "Creating"             // AWS is creating it
	ReasonCredentialsRejected  = "CredentialsRejected"  // AWS does not accept the credentials
	ReasonClockSkew            = "ClockSkew"            // the clock of the operator's machine is wrong by more than AWS accepts
	ReasonIdentityNotVerified  = "IdentityNotVerified"  // AWS could not verify the operator's identity token
	ReasonDeletionProtected    = "DeletionProtected"    // it is protected by its spec, by an annotation or in AWS; the message names which, and how to lift it
	ReasonDiffers              = "Differs"              // Portico only observes it, and it is not as the spec describes it
	ReasonEndpointNotAllowed   = "EndpointNotAllowed"   // the operator's flags do not allow this endpoint
	ReasonExternallyDeleted    = "ExternallyDeleted"    // somebody deleted it in AWS, and Portico does not create an empty one without asking
	ReasonImmutableDiffers     = "ImmutableDiffers"     // AWS has another value of a setting that can never change
	ReasonInsufficientCapacity = "InsufficientCapacity" // AWS has no room for a machine of this type in this zone right now
	ReasonInvalidProvider      = "InvalidProvider"      // the AWSProvider has a value that cannot work
	ReasonKeyRefusesSender     = "KeyRefusesSender"     // the KMS key keeps a sender out, so that AWS drops what it sends
	ReasonNamespaceTerminating = "NamespaceTerminating" // the namespace is being deleted, and nothing new is created in it
	ReasonNoWebIdentity        = "NoWebIdentity"        // the operator has no identity token with which it could assume the role
	ReasonNotFound             = "NotFound"             // it does not exist in AWS, or is not shared with this namespace
	ReasonNotKept              = "NotKept"              // AWS took the same change three times and does not show it
	ReasonOwnershipTagsLost    = "OwnershipTagsLost"    // Portico's tags are gone in AWS, so Portico changes and deletes nothing there
	ReasonProviderDeleting     = "ProviderDeleting"     // the AWSProvider is being deleted
	ReasonProviderNotAllowed   = "ProviderNotAllowed"   // this namespace cannot use the AWSProvider
	ReasonProviderNotFound     = "ProviderNotFound"     // there is no such AWSProvider
	ReasonProviderNotReady     = "ProviderNotReady"     // the AWSProvider does not work right now; its own status says why
	ReasonQuotaExceeded        = "QuotaExceeded"        // a quota of AWS or of the namespace is used up
	ReasonReferenceNotAllowed  = "ReferenceNotAllowed"  // the spec names something that this namespace cannot use
	ReasonRegionNotAllowed     = "RegionNotAllowed"     // the AWSProvider does not allow this region
	ReasonRegionNotEnabled     = "RegionNotEnabled"     // the AWS account has not enabled this region
	ReasonSecretKeyNotFound    = "SecretKeyNotFound"    // the Secret has no such key
	ReasonSecretNotFound       = "SecretNotFound"       // there is no such Secret
	ReasonSecretNotLabelled    = "SecretNotLabelled"    // the Secret lacks the label that lets Portico read it
	ReasonServiceNotOffered    = "ServiceNotOffered"    // the server that the AWSProvider names does not have this service
	ReasonSnapshotNotAllowed   = "SnapshotNotAllowed"   // this namespace cannot use the snapshot
	ReasonStopped              = "Stopped"              // it is stopped
	ReasonStopping             = "Stopping"             // AWS is stopping it
	ReasonTagForbidden         = "TagForbidden"         // the spec sets a tag that only the platform sets
	ReasonThrottled            = "Throttled"            // AWS limits how often it can be called; Portico waits and tries again
)

// Reasons of hostnames.
const (
	ReasonCertificateFailed  = "CertificateFailed"  // ACM gave up on the certificate; Portico requests another one later
	ReasonCertificateLost    = "CertificateLost"    // somebody deleted the certificate, more than once
	ReasonCertificateOver    = "CertificateOver"    // the certificate has expired or was revoked
	ReasonCertificatePending = "CertificatePending" // ACM has not issued the certificate yet
	ReasonCertificatesPaced  = "CertificatesPaced"  // the namespace requested many certificates lately; the message says when the next one is requested
	ReasonClaiming           = "Claiming"           // the name is being claimed
	ReasonDelegated          = "Delegated"          // the name lies in a part of the domain that other name servers answer for
	ReasonDetaching          = "Detaching"          // the hostname is being removed from the load balancer
	ReasonGatewayLost        = "GatewayLost"        // somebody removed the PoolGateway by force
	ReasonGatewayPending     = "GatewayPending"     // the load balancer is not ready yet
	ReasonHeld               = "Held"               // the claim belongs to a request that still exists
	ReasonHolderGone         = "HolderGone"         // the request is gone without giving back the name
	ReasonInvalidHostname    = "InvalidHostname"    // this is not a valid hostname
	ReasonListenerPending    = "ListenerPending"    // the load balancer does not serve the hostname yet
	ReasonNoValidationZone   = "NoValidationZone"   // there is no public zone in which the domain could be proved
	ReasonNotAuthorized      = "NotAuthorized"      // CAA records of the domain do not allow certificates of Amazon
	ReasonNotGranted         = "NotGranted"         // the hostname grant does not cover the name
	ReasonNotInZone          = "NotInZone"          // the name does not lie in the hosted zone
	ReasonPoolFull           = "PoolFull"           // no load balancer has room, and no other one can be created
	ReasonPrivateZone        = "PrivateZone"        // a hostname for the internet needs a public zone
	ReasonPropagating        = "Propagating"        // Route 53 is passing the records to its name servers
	ReasonReleasing          = "Releasing"          // the name is being given back
	ReasonTaken              = "Taken"              // another request has the name, or one that overlaps
	ReasonTooManyHostnames   = "TooManyHostnames"   // the namespace has as many hostnames as its grant allows
	ReasonValidationPending  = "ValidationPending"  // ACM has not said yet which record proves the domain
)

// Reasons of WebApps, and of the Kubernetes objects that Portico makes.
const (
	ReasonBindingNotFound          = "BindingNotFound"          // the resource that it is bound to does not exist
	ReasonBindingsCollide          = "BindingsCollide"          // two bindings would set the same variable or folder
	ReasonChangedAtTheSameTime     = "ChangedAtTheSameTime"     // somebody else changed an object at the same moment; Portico tries again
	ReasonCrashLoopBackOff         = "CrashLoopBackOff"         // the program ends again and again
	ReasonDeploymentPaused         = "DeploymentPaused"         // somebody paused the Deployment
	ReasonEvicted                  = "Evicted"                  // nodes remove its Pods, for the disk or memory that they use or to make room
	ReasonHostnameNotFound         = "HostnameNotFound"         // the hostname request does not exist, or is being deleted
	ReasonHostnamesOff             = "HostnamesOff"             // this cluster offers no hostnames
	ReasonImagePullBackOff         = "ImagePullBackOff"         // the image cannot be pulled
	ReasonInvalid                  = "Invalid"                  // the cluster finds an object invalid; the message has its words
	ReasonMadeAtTheSameTime        = "MadeAtTheSameTime"        // somebody else created the object at the same moment; Portico tries again
	ReasonNodeNotReady             = "NodeNotReady"             // the node of a Pod does not answer
	ReasonNodeShutdown             = "NodeShutdown"             // the node of a Pod shut down
	ReasonOOMKilled                = "OOMKilled"                // a container needs more memory than its limit
	ReasonPodFailed                = "PodFailed"                // a Pod failed
	ReasonPodRejected              = "PodRejected"              // the node that was chosen for a Pod does not take it
	ReasonProbeFailing             = "ProbeFailing"             // a Pod runs, and its probe gets no good answer
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded" // the rollout made no progress for 5 minutes
	ReasonReadinessGatesNotReady   = "ReadinessGatesNotReady"   // a Pod runs, and the load balancer does not find it healthy yet
	ReasonRollbackImpossible       = "RollbackImpossible"       // there is no such version to return to
	ReasonRolledOut                = "RolledOut"                // all Pods run the current version
	ReasonRollingBack              = "RollingBack"              // the image becomes that of an earlier version
	ReasonRollingOut               = "RollingOut"               // Pods are being replaced with those of the new version
	ReasonRoutePending             = "RoutePending"             // the load balancer has not taken up the route
	ReasonRouteRefused             = "RouteRefused"             // the load balancer controller refuses the route
	ReasonUnschedulable            = "Unschedulable"            // no node has room for a Pod
	ReasonWaitingForAccess         = "WaitingForAccess"         // the rights in AWS that its Pods need are not there yet
	ReasonWaitingForBinding        = "WaitingForBinding"        // something that it is bound to is not Ready
	ReasonWaitingForDeletion       = "WaitingForDeletion"       // an earlier object is still being deleted
	ReasonWaitingForHostname       = "WaitingForHostname"       // its hostname is not Ready
)

// Reasons of databases that RDS itself shows as broken.
const (
	ReasonDatabaseFailed          = "DatabaseFailed"          // RDS reports that the database failed
	ReasonIncompatible            = "Incompatible"            // RDS cannot work with a setting of the database
	ReasonIncompatibleCredentials = "IncompatibleCredentials" // RDS cannot use the credentials of the database
	ReasonIncompatibleNetwork     = "IncompatibleNetwork"     // the network has no room for the database, or does not fit it
	ReasonIncompatibleOptionGroup = "IncompatibleOptionGroup" // the option group does not fit the database
	ReasonIncompatibleParameters  = "IncompatibleParameters"  // the parameters do not fit the database
	ReasonKeyNotAccessible        = "KeyNotAccessible"        // RDS cannot use the KMS key of the database
	ReasonStorageFull             = "StorageFull"             // the database has no storage left
)

// Reasons of conditions beside Ready and the steps.
const (
	ReasonApplied                     = "Applied"                     // AWS has applied every change
	ReasonChecking                    = "Checking"                    // AWS has not answered yet
	ReasonGranted                     = "Granted"                     // the rights are in place
	ReasonMinimumReplicasAvailable    = "MinimumReplicasAvailable"    // enough Pods answer
	ReasonMinimumReplicasUnavailable  = "MinimumReplicasUnavailable"  // too few Pods answer
	ReasonNoIdentity                  = "NoIdentity"                  // the Pods get no rights in AWS to what they are bound to
	ReasonPaused                      = "Paused"                      // somebody paused it, and Portico leaves it alone
	ReasonQuotaNearlyFull             = "QuotaNearlyFull"             // more than 80 % of a quota of AWS is used
	ReasonRateExceeded                = "RateExceeded"                // AWS limits how often the account can be called
	ReasonRoleNotChecked              = "RoleNotChecked"              // Portico could not read the role, and does not know whether it works
	ReasonVerified                    = "Verified"                    // everything that is needed is there
	ReasonWaitingForMaintenanceWindow = "WaitingForMaintenanceWindow" // RDS applies the change in the next maintenance window
	ReasonWaitingForReboot            = "WaitingForReboot"            // RDS applies the change when the database restarts
	ReasonWithin                      = "Within"                      // no hostname needs more of the load balancer than is kept for it
)

// Reasons of events that tell of an act, and of no outcome.
const (
	ReasonAuthenticated        = "Authenticated"        // AWS accepted the credentials
	ReasonCertificateFound     = "CertificateFound"     // a certificate that was requested before is used again
	ReasonCertificateRequested = "CertificateRequested" // a certificate was requested
	ReasonClaimed              = "Claimed"              // the name was claimed
	ReasonCreated              = "Created"              // something was created
	ReasonHostnameClosed       = "HostnameClosed"       // the routes of a hostname need more than its budget, and it no longer answers
	ReasonHostnameOpened       = "HostnameOpened"       // the routes of a hostname fit its budget again
	ReasonInvalidAnnotation    = "InvalidAnnotation"    // an annotation has a value that cannot be used
	ReasonHistoryNotRecorded   = "HistoryNotRecorded"   // a version of a resource is not in its history yet
	ReasonKeepRefused          = "KeepRefused"          // the deletion could not be canceled
	ReasonKept                 = "Kept"                 // a deletion was canceled, and everything stays
	ReasonNotOurs              = "NotOurs"              // it does not carry Portico's tags, and was left alone
	ReasonOrphaned             = "Orphaned"             // it stays in AWS, without Portico's tags
	ReasonPasswordChanged      = "PasswordChanged"      // the master password was changed
	ReasonRecordCreated        = "RecordCreated"        // a DNS record was created
	ReasonRecordsLeft          = "RecordsLeft"          // DNS records stay, because nothing says that they are Portico's
	ReasonRecreateAcknowledged = "RecreateAcknowledged" // somebody allowed a new, empty one
	ReasonRecreated            = "Recreated"            // it was gone and was created again
	ReasonRemoved              = "Removed"              // something that the spec no longer names was removed
	ReasonRenewalLate          = "RenewalLate"          // ACM has not renewed a certificate that ends soon
	ReasonRepaired             = "Repaired"             // a difference to the spec was set back
	ReasonRetained             = "Retained"             // it stays in AWS, with Portico's tags
	ReasonRolledBack           = "RolledBack"           // the image was set to that of an earlier version
	ReasonRotationIgnored      = "RotationIgnored"      // a new password was requested where Portico does not manage it
	ReasonTagsLeft             = "TagsLeft"             // it stays in AWS, and Portico's tags could not be removed
	ReasonUpdated              = "Updated"              // something was changed
)
