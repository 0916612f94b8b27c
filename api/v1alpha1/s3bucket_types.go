package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// S3BucketSpec is the bucket that a team wants. A field left out is not managed and keeps AWS's secure default, but for
// publicAccessBlock, which is kept closed; a bucket with a name only has Block Public Access on, ACLs off and AES256
// encryption.
type S3BucketSpec struct {
	AWSSpec `json:",inline"`
	// bucketName is the bucket's name in S3, unique in the whole AWS partition. If left out, Portico picks
	// <prefix>-<namespace>-<name>-<hash>; only this namespace has that prefix. The platform can refuse other names.
	// Immutable once it is created.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*$')",message="use lower-case letters, digits, dots and hyphens; every part between dots begins and ends with a letter or a digit"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+$')",message="a bucket name must not look like an IP address"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('xn--') && !self.startsWith('sthree-') && !self.startsWith('amzn-s3-demo-')",message="S3 reserves names that start with xn--, sthree- or amzn-s3-demo-; choose another name"
	// +kubebuilder:validation:XValidation:rule="!self.endsWith('-s3alias') && !self.endsWith('--ol-s3') && !self.endsWith('.mrap') && !self.endsWith('--x-s3') && !self.endsWith('--table-s3') && !self.endsWith('-an')",message="S3 reserves names that end with -s3alias, --ol-s3, .mrap, --x-s3, --table-s3 or -an; choose another name"
	// +optional
	BucketName string `json:"bucketName,omitempty"`
	// versioning keeps every version of an object. S3 can suspend it but never switch it off again.
	// +kubebuilder:validation:Enum=Enabled;Suspended
	// +optional
	Versioning string `json:"versioning,omitempty"`
	// encryption of new objects at rest. If left out, S3 encrypts with its own keys (AES256).
	// +optional
	Encryption *S3Encryption `json:"encryption,omitempty"`
	// lifecycleRules move or expire objects as they age. If set, they are all the rules the bucket has.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(r, !has(r.id) || self.exists_one(o, has(o.id) && o.id == r.id))",message="two lifecycle rules have the same id"
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="oldSelf.hasValue() || self.all(r, (!has(r.transitions) || r.transitions.all(t, !(t.storageClass in ['STANDARD_IA', 'ONEZONE_IA']) || r.transitions.all(o, o.days <= t.days || o.days >= t.days + 30))) && (!has(r.noncurrentVersionTransitions) || r.noncurrentVersionTransitions.all(t, !(t.storageClass in ['STANDARD_IA', 'ONEZONE_IA']) || r.noncurrentVersionTransitions.all(o, o.days <= t.days || o.days >= t.days + 30))))",message="S3 keeps objects in STANDARD_IA and ONEZONE_IA for at least 30 days: make the next transition 30 days later"
	// +kubebuilder:validation:XValidation:rule="self.all(r, (!has(r.transitions) || r.transitions.all(t, !(t.storageClass in ['STANDARD_IA', 'ONEZONE_IA']) || r.transitions.all(o, o.days <= t.days || o.days >= t.days + 30)) || oldSelf.exists(o, has(o.transitions) && o.transitions == r.transitions)) && (!has(r.noncurrentVersionTransitions) || r.noncurrentVersionTransitions.all(t, !(t.storageClass in ['STANDARD_IA', 'ONEZONE_IA']) || r.noncurrentVersionTransitions.all(o, o.days <= t.days || o.days >= t.days + 30)) || oldSelf.exists(o, has(o.noncurrentVersionTransitions) && o.noncurrentVersionTransitions == r.noncurrentVersionTransitions)))",message="S3 keeps objects in STANDARD_IA and ONEZONE_IA for at least 30 days: make the next transition 30 days later"
	// +listType=atomic
	// +optional
	LifecycleRules []S3LifecycleRule `json:"lifecycleRules,omitempty"`
	// corsRules let web pages of other origins use the bucket. If set, they are all the rules the bucket has.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="oldSelf.hasValue() || self.all(r, r.allowedOrigins.all(v, v.indexOf('*') == v.lastIndexOf('*')))",message="S3 takes one * in an origin: name each origin, or use one *"
	// +kubebuilder:validation:XValidation:rule="self.all(r, r.allowedOrigins.all(v, v.indexOf('*') == v.lastIndexOf('*')) || oldSelf.exists(o, o.allowedOrigins == r.allowedOrigins))",message="S3 takes one * in an origin: name each origin, or use one *"
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="oldSelf.hasValue() || self.all(r, !has(r.allowedHeaders) || r.allowedHeaders.all(v, v.indexOf('*') == v.lastIndexOf('*')))",message="S3 takes one * in a header: name each header, or use one *"
	// +kubebuilder:validation:XValidation:rule="self.all(r, !has(r.allowedHeaders) || r.allowedHeaders.all(v, v.indexOf('*') == v.lastIndexOf('*')) || oldSelf.exists(o, has(o.allowedHeaders) && o.allowedHeaders == r.allowedHeaders))",message="S3 takes one * in a header: name each header, or use one *"
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="oldSelf.hasValue() || self.all(r, !has(r.exposeHeaders) || r.exposeHeaders.all(v, !v.contains('*')))",message="S3 takes no * in exposeHeaders: name each header that a page may read"
	// +kubebuilder:validation:XValidation:rule="self.all(r, !has(r.exposeHeaders) || r.exposeHeaders.all(v, !v.contains('*')) || oldSelf.exists(o, has(o.exposeHeaders) && o.exposeHeaders == r.exposeHeaders))",message="S3 takes no * in exposeHeaders: name each header that a page may read"
	// +listType=atomic
	// +optional
	CORSRules []S3CORSRule `json:"corsRules,omitempty"`
	// publicAccessBlock opens or closes the ways in which a bucket can become public. If left out, all are blocked, and
	// Portico blocks them again if somebody opens one in AWS. In an adopted bucket, which can be public on purpose,
	// Portico changes only what you have set here once.
	// +optional
	PublicAccessBlock *S3PublicAccessBlock `json:"publicAccessBlock,omitempty"`
	// requireTLS refuses requests to the bucket that are not encrypted on their way. If left out, a bucket that Portico
	// makes has it; one of an earlier version, or one that is taken over, is left as it is.
	// +optional
	RequireTLS *bool `json:"requireTLS,omitempty"`
	// policy is the rest of the bucket's policy, as JSON: what requireTLS does not say. If left out, statements that
	// others added in AWS stay.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=20480
	// +optional
	Policy string `json:"policy,omitempty"`
	// notifications tell queues and topics of what happens to objects. Notifications that others added in AWS stay.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self.all(n, self.exists_one(o, o == n))",message="name each notification once"
	// +listType=atomic
	// +optional
	Notifications []S3Notification `json:"notifications,omitempty"`
	// tags of the bucket, in addition to the default tags of the AWS account.
	// +kubebuilder:validation:MaxProperties=34
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="self.all(k, (oldSelf.hasValue() && k in oldSelf.value() && self[k] == oldSelf.value()[k]) || (k.matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$') && self[k].matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$')))",message="AWS takes letters, digits, spaces and _ . : / = + - @ in the keys and values of tags; take the others out"
	// +optional
	Tags Tags `json:"tags,omitempty"`
	// deletionPolicy is what happens to the bucket when you delete it. Delete removes it, but refuses while it holds
	// objects unless forceDestroy is true. Retain keeps it: the same request can manage it again later. Orphan keeps it
	// and removes Portico's tags.
	// +kubebuilder:validation:Enum=Delete;Retain;Orphan
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
	// forceDestroy lets deletion empty the bucket first: every object, version and delete marker is lost.
	// +optional
	ForceDestroy bool `json:"forceDestroy,omitempty"`
}

// S3Encryption is how S3 encrypts new objects.
// +kubebuilder:validation:XValidation:rule="self.algorithm == 'AES256' || has(self.kmsKeyID)",message="kmsKeyID is required with aws:kms and aws:kms:dsse: give the key's ID, ARN or alias"
// +kubebuilder:validation:XValidation:rule="self.algorithm != 'AES256' || !has(self.kmsKeyID)",message="kmsKeyID needs algorithm aws:kms or aws:kms:dsse"
// +kubebuilder:validation:XValidation:rule="self.algorithm == 'aws:kms' || !has(self.bucketKeyEnabled)",message="bucketKeyEnabled needs algorithm aws:kms"
type S3Encryption struct {
	// algorithm to encrypt with: AES256 uses keys that S3 keeps, aws:kms and aws:kms:dsse (two layers) a key in KMS.
	// +kubebuilder:validation:Enum=AES256;"aws:kms";"aws:kms:dsse"
	// +required
	Algorithm string `json:"algorithm"`
	// kmsKeyID is the KMS key's ID, ARN or alias.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	KMSKeyID string `json:"kmsKeyID,omitempty"`
	// bucketKeyEnabled lowers KMS cost with a bucket-level key.
	// +optional
	BucketKeyEnabled *bool `json:"bucketKeyEnabled,omitempty"`
}

// S3LifecycleRule is what happens to objects of a prefix as they age.
// +kubebuilder:validation:XValidation:rule="has(self.expirationDays) || (has(self.expiredObjectDeleteMarker) && self.expiredObjectDeleteMarker) || has(self.noncurrentVersionExpirationDays) || has(self.abortIncompleteMultipartUploadDays) || has(self.transitions) || has(self.noncurrentVersionTransitions)",message="a lifecycle rule needs an action: an expiration, a transition or abortIncompleteMultipartUploadDays"
// +kubebuilder:validation:XValidation:rule="!has(self.expirationDays) || !has(self.transitions) || self.transitions.all(t, t.days < self.expirationDays)",message="expirationDays must be later than every transition"
// +kubebuilder:validation:XValidation:rule="!has(self.noncurrentVersionExpirationDays) || !has(self.noncurrentVersionTransitions) || self.noncurrentVersionTransitions.all(t, t.days < self.noncurrentVersionExpirationDays)",message="noncurrentVersionExpirationDays must be later than every noncurrent transition"
// +kubebuilder:validation:XValidation:rule="!has(self.expirationDays) || !has(self.expiredObjectDeleteMarker)",message="expirationDays and expiredObjectDeleteMarker cannot be in the same rule"
type S3LifecycleRule struct {
	// id names the rule; if left out, Portico numbers it.
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('portico-')",message="rule ids that start with portico- are given by Portico; choose another id, or none"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	ID string `json:"id,omitempty"`
	// enabled false keeps the rule without effect; if left out, it is true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// prefix of the objects' keys; if left out, it is for every object.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Prefix string `json:"prefix,omitempty"`
	// expirationDays after which the current version expires.
	// +kubebuilder:validation:Minimum=1
	// +optional
	ExpirationDays *int32 `json:"expirationDays,omitempty"`
	// expiredObjectDeleteMarker removes delete markers that have no versions behind them.
	// +optional
	ExpiredObjectDeleteMarker *bool `json:"expiredObjectDeleteMarker,omitempty"`
	// noncurrentVersionExpirationDays after which a version that is no longer current is removed.
	// +kubebuilder:validation:Minimum=1
	// +optional
	NoncurrentVersionExpirationDays *int32 `json:"noncurrentVersionExpirationDays,omitempty"`
	// abortIncompleteMultipartUploadDays after which unfinished multipart uploads are removed.
	// +kubebuilder:validation:Minimum=1
	// +optional
	AbortIncompleteMultipartUploadDays *int32 `json:"abortIncompleteMultipartUploadDays,omitempty"`
	// transitions move the current version to cheaper storage, in order of days.
	// +optional
	Transitions S3Transitions `json:"transitions,omitempty"`
	// noncurrentVersionTransitions move versions that are no longer current, in order of days.
	// +optional
	NoncurrentVersionTransitions S3Transitions `json:"noncurrentVersionTransitions,omitempty"`
}

// S3Transitions are moves to cheaper storage, in order.
// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:MaxItems=6
// +kubebuilder:validation:XValidation:rule="self.map(t, t.days).isSorted() && self.all(t, self.exists_one(o, o.days == t.days))",message="transitions must be in order of days, each later than the one before"
// +kubebuilder:validation:XValidation:rule="self.map(t, t.storageClass == 'STANDARD_IA' ? 1 : t.storageClass == 'INTELLIGENT_TIERING' ? 2 : t.storageClass == 'ONEZONE_IA' ? 3 : t.storageClass == 'GLACIER_IR' ? 4 : t.storageClass == 'GLACIER' ? 5 : 6).isSorted() && self.all(t, self.exists_one(o, o.storageClass == t.storageClass))",message="transitions must go from warmer to colder storage: STANDARD_IA, INTELLIGENT_TIERING, ONEZONE_IA, GLACIER_IR, GLACIER, DEEP_ARCHIVE"
// +kubebuilder:validation:XValidation:rule="!(self.exists(t, t.storageClass == 'ONEZONE_IA') && self.exists(t, t.storageClass == 'GLACIER_IR'))",message="S3 cannot move objects from ONEZONE_IA to GLACIER_IR; leave one of them out"
// +listType=atomic
type S3Transitions []S3Transition

// S3Transition is one move to cheaper storage.
// +kubebuilder:validation:XValidation:rule="(self.storageClass != 'STANDARD_IA' && self.storageClass != 'ONEZONE_IA') || self.days >= 30",message="S3 moves objects to STANDARD_IA and ONEZONE_IA after 30 days at the earliest"
type S3Transition struct {
	// days after creation, or after the version stopped being current.
	// +kubebuilder:validation:Minimum=0
	// +required
	Days int32 `json:"days"`
	// storageClass to move to.
	// +kubebuilder:validation:Enum=STANDARD_IA;INTELLIGENT_TIERING;ONEZONE_IA;GLACIER_IR;GLACIER;DEEP_ARCHIVE
	// +required
	StorageClass string `json:"storageClass"`
}

// S3CORSRule lets web pages of some origins use the bucket.
type S3CORSRule struct {
	// allowedOrigins are the origins that may use the bucket, for example https://app.example.com; each may hold one *.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +required
	AllowedOrigins []string `json:"allowedOrigins"`
	// allowedMethods are HTTP methods.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:Enum=GET;PUT;POST;DELETE;HEAD
	// +listType=set
	// +required
	AllowedMethods []string `json:"allowedMethods"`
	// allowedHeaders that a browser may send.
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	AllowedHeaders []string `json:"allowedHeaders,omitempty"`
	// exposeHeaders that a page may read.
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	ExposeHeaders []string `json:"exposeHeaders,omitempty"`
	// maxAgeSeconds for which a browser may keep the answer to a preflight request.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxAgeSeconds *int32 `json:"maxAgeSeconds,omitempty"`
}

// S3PublicAccessBlock closes the ways in which a bucket can become public. A member left out is kept true; of an
// adopted bucket it is left as it is until it has been set once.
type S3PublicAccessBlock struct {
	// blockPublicAcls refuses new public ACLs.
	// +optional
	BlockPublicAcls *bool `json:"blockPublicAcls,omitempty"`
	// ignorePublicAcls makes existing public ACLs ineffective.
	// +optional
	IgnorePublicAcls *bool `json:"ignorePublicAcls,omitempty"`
	// blockPublicPolicy refuses bucket policies that make the bucket public.
	// +optional
	BlockPublicPolicy *bool `json:"blockPublicPolicy,omitempty"`
	// restrictPublicBuckets limits a public bucket to AWS services and its own account.
	// +optional
	RestrictPublicBuckets *bool `json:"restrictPublicBuckets,omitempty"`
}

// S3BucketStatus is the bucket that AWS has.
type S3BucketStatus struct {
	AWSStatus `json:",inline"`
	// bucketName is the bucket's name in S3.
	// +optional
	BucketName string `json:"bucketName,omitempty"`
	// bucketDomainName is the bucket's host name in its region; on a custom endpoint the endpoint's host, and the
	// bucket below it.
	// +optional
	BucketDomainName string `json:"bucketDomainName,omitempty"`
	// kmsKey is the customer's KMS key that AWS encrypts with, as the spec names it, once the platform has admitted it;
	// the rights of Pods follow it.
	// +optional
	KMSKey string `json:"kmsKey,omitempty"`
	// createdUnmarked says that S3 has created the bucket for this object, and that Portico has not seen its own tags
	// on it since. As long as the bucket has no tags at all, it counts as this object's.
	// +optional
	CreatedUnmarked bool `json:"createdUnmarked,omitempty"`
	// removedObjects counts objects, versions and delete markers removed so far while forceDestroy empties the bucket.
	// +optional
	RemovedObjects int64 `json:"removedObjects,omitempty"`
}

// S3Bucket is object storage: files of any size, kept durably and reached over HTTPS.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=s3,categories=portico
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Bucket",type=string,JSONPath=`.status.bucketName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.providerRef.name`,priority=1
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.status.region`,priority=1
// +kubebuilder:printcolumn:name="ARN",type=string,JSONPath=`.status.arn`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:fieldPath=".spec.providerRef",rule="!has(self.status) || !(has(self.status.accountID)) || (self.spec.providerRef == oldSelf.spec.providerRef)",message="providerRef is immutable: the resource would stay behind in the old account; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.region",rule="!has(self.status) || !(has(self.status.accountID)) || (has(self.spec.region) == has(oldSelf.spec.region) && (!has(self.spec.region) || self.spec.region == oldSelf.spec.region))",message="region is immutable: the resource would stay behind in the old region; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.bucketName",rule="!has(self.status) || !(has(self.status.accountID)) || (has(self.spec.bucketName) == has(oldSelf.spec.bucketName) && (!has(self.spec.bucketName) || self.spec.bucketName == oldSelf.spec.bucketName))",message="bucketName is immutable: S3 cannot rename a bucket; delete this object and request a new one"
type S3Bucket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the bucket that the team wants.
	// +required
	Spec S3BucketSpec `json:"spec"`
	// status is the bucket that AWS has.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status S3BucketStatus `json:"status,omitempty"`
}

// Reasons of S3Buckets.
const (
	ReasonBucketNotEmpty    = "BucketNotEmpty"
	ReasonEmptying          = "Emptying"
	ReasonNameTakenOrDenied = "NameTakenOrDenied"
	ReasonObjectsKept       = "ObjectsKept"
)
