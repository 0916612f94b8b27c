package v1alpha1

// RDSNetworkSpec is where a database is reached, and how it is kept.
type RDSNetworkSpec struct {
	// port is the port on which the database listens. A change restarts it at once.
	// +kubebuilder:validation:Minimum=1150
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`
	// multiAZ true keeps a standby in another availability zone.
	// +optional
	MultiAZ *bool `json:"multiAZ,omitempty"`
	// publiclyAccessible true gives the endpoint a public address. If left out, it has none, and Portico removes one
	// that somebody adds in AWS. An adopted database stays as it is until you set this once.
	// +optional
	PubliclyAccessible *bool `json:"publiclyAccessible,omitempty"`
	// dbSubnetGroupName is the group of subnets, and with it the network, that holds the database. Immutable once it is
	// created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	DBSubnetGroupName string `json:"dbSubnetGroupName,omitempty"`
	// vpcSecurityGroupIDs are the security groups. If set, they are all that the database has.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^sg-[0-9a-z]+$`
	// +listType=set
	// +optional
	VPCSecurityGroupIDs []string `json:"vpcSecurityGroupIDs,omitempty"`
	// storageEncrypted false stores the data unencrypted. If left out, it is encrypted. Immutable once it is created.
	// +optional
	StorageEncrypted *bool `json:"storageEncrypted,omitempty"`
	// kmsKeyID encrypts the storage with this KMS key: its ID, ARN or alias. If left out, it is RDS's own key.
	// Immutable once it is created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	KMSKeyID string `json:"kmsKeyID,omitempty"`
	// dbParameterGroupName is the group of the engine's settings. Some of them wait for a reboot, which
	// status.parameterApplyStatus shows.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	DBParameterGroupName string `json:"dbParameterGroupName,omitempty"`
}

// RDSOperationSpec is how a database is run, backed up and given up.
type RDSOperationSpec struct {
	// engineLifecycleSupport is what happens when the standard support of a major version has ended. With
	// open-source-rds-extended-support the database keeps running, and AWS charges for Extended Support. With
	// open-source-rds-extended-support-disabled AWS upgrades it, and you cannot create a new database of that version.
	// Left out, a new database has no Extended Support, and an existing one keeps what it has. Only for MySQL and
	// PostgreSQL.
	// +kubebuilder:validation:Enum=open-source-rds-extended-support;open-source-rds-extended-support-disabled
	// +optional
	EngineLifecycleSupport string `json:"engineLifecycleSupport,omitempty"`
	// licenseModel says whose license an Oracle database runs with: bring-your-own-license with one that you have,
	// license-included with one that is in AWS's price. If left out, AWS chooses and status.licenseModel tells; a value
	// that you remove stays in force.
	// +kubebuilder:validation:Enum=bring-your-own-license;license-included
	// +optional
	LicenseModel string `json:"licenseModel,omitempty"`
	// backupRetentionPeriod is for how many days automated backups are kept; 0 switches them off. A lower number
	// deletes older recovery points at once. AWS's default is 1; a number that you remove stays in force.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=35
	// +optional
	BackupRetentionPeriod *int32 `json:"backupRetentionPeriod,omitempty"`
	// preferredBackupWindow is the daily time of the automated backup in UTC, as hh24:mi-hh24:mi. It must not overlap
	// the maintenance window.
	// +kubebuilder:validation:MaxLength=11
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$')",message="give a time in UTC such as 02:00-02:30"
	// +optional
	PreferredBackupWindow string `json:"preferredBackupWindow,omitempty"`
	// preferredMaintenanceWindow is the weekly time of changes that interrupt the database, in UTC, as
	// ddd:hh24:mi-ddd:hh24:mi; case does not count.
	// +kubebuilder:validation:MaxLength=19
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.lowerAscii().matches('^(mon|tue|wed|thu|fri|sat|sun):([01][0-9]|2[0-3]):[0-5][0-9]-(mon|tue|wed|thu|fri|sat|sun):([01][0-9]|2[0-3]):[0-5][0-9]$')",message="give a time in UTC such as sun:03:00-sun:03:30"
	// +optional
	PreferredMaintenanceWindow string `json:"preferredMaintenanceWindow,omitempty"`
	// applyImmediately true makes changes at once that would otherwise wait for the maintenance window, and with them
	// all that waits already; the database may restart. What waits is in status.pendingModifiedValues.
	// +optional
	ApplyImmediately bool `json:"applyImmediately,omitempty"`
	// performanceInsightsEnabled switches Performance Insights on or off.
	// +optional
	PerformanceInsightsEnabled *bool `json:"performanceInsightsEnabled,omitempty"`
	// enabledCloudwatchLogsExports are the logs that go to CloudWatch, such as postgresql or slowquery. If set, they
	// are all that go there.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9.-]+$`
	// +listType=set
	// +optional
	EnabledCloudwatchLogsExports []string `json:"enabledCloudwatchLogsExports,omitempty"`
	// deletionProtection true refuses every deletion of the database, Portico's too. Portico switches it off only if
	// you set it to false.
	// +optional
	DeletionProtection *bool `json:"deletionProtection,omitempty"`
	// restoreFrom creates the database from a snapshot instead of an empty one. Its engine must be that of the
	// snapshot; its administrator is the one in the snapshot, whatever masterUsername says. Immutable once it is
	// created.
	// +optional
	RestoreFrom *RDSRestoreFrom `json:"restoreFrom,omitempty"`
	// skipFinalSnapshot true deletes the database without keeping its data in a final snapshot.
	// +optional
	SkipFinalSnapshot bool `json:"skipFinalSnapshot,omitempty"`
	// finalSnapshotIdentifier is the name of the final snapshot. If left out, <identifier>-final-<start of the object's
	// UID>.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$') && !self.contains('--')",message="use letters, digits and single hyphens; begin with a letter and do not end with a hyphen"
	// +optional
	FinalSnapshotIdentifier string `json:"finalSnapshotIdentifier,omitempty"`
	// deleteAutomatedBackups false keeps the automated backups of a deleted database until they expire; AWS's default
	// is true.
	// +optional
	DeleteAutomatedBackups *bool `json:"deleteAutomatedBackups,omitempty"`
	// tags of the database, in addition to the default tags of the AWS account. Snapshots inherit them.
	// +kubebuilder:validation:MaxProperties=34
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="self.all(k, (oldSelf.hasValue() && k in oldSelf.value() && self[k] == oldSelf.value()[k]) || (k.matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$') && self[k].matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$')))",message="AWS takes letters, digits, spaces and _ . : / = + - @ in the keys and values of tags; take the others out"
	// +optional
	Tags Tags `json:"tags,omitempty"`
	// deletionPolicy is what happens to the database when you delete it. Delete removes it after a final snapshot,
	// unless skipFinalSnapshot is true. Retain keeps it: the same request can manage it again later. Orphan keeps it
	// and removes Portico's tags.
	// +kubebuilder:validation:Enum=Delete;Retain;Orphan
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// RDSRestoreFrom is where the data of a new database comes from.
type RDSRestoreFrom struct {
	// snapshotIdentifier is the snapshot's name or ARN. It must be of a database of this namespace, or carry the tag
	// portico.dev/namespace=<namespace> or portico.dev/adopt=<namespace>/<name>, which somebody with access to AWS must
	// have set.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +required
	SnapshotIdentifier string `json:"snapshotIdentifier"`
}
