package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ConditionChangesApplied is False while a change of an RDSInstance waits for its maintenance window or a reboot.
const ConditionChangesApplied = "ChangesApplied"

// RDSInstanceStatus is the database that AWS has.
type RDSInstanceStatus struct {
	AWSStatus `json:",inline"`
	// dbInstanceIdentifier is the instance's name in RDS.
	// +optional
	DBInstanceIdentifier string `json:"dbInstanceIdentifier,omitempty"`
	// endpoint is the host name to connect to.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// port to connect to.
	// +optional
	Port int32 `json:"port,omitempty"`
	// dbInstanceStatus is what RDS says it is doing, such as available or backing-up.
	// +optional
	DBInstanceStatus string `json:"dbInstanceStatus,omitempty"`
	// engineVersion that runs.
	// +optional
	EngineVersion string `json:"engineVersion,omitempty"`
	// licenseModel of what runs, which AWS chooses where the spec does not.
	// +optional
	LicenseModel string `json:"licenseModel,omitempty"`
	// instanceClass that runs.
	// +optional
	InstanceClass string `json:"instanceClass,omitempty"`
	// allocatedStorage that there is, in GiB.
	// +optional
	AllocatedStorage int32 `json:"allocatedStorage,omitempty"`
	// pendingModifiedValues are the changes that wait for the maintenance window, or are being made: name to new value.
	// +optional
	PendingModifiedValues map[string]string `json:"pendingModifiedValues,omitempty"`
	// parameterApplyStatus tells whether the parameter group's settings are in force: in-sync, applying or
	// pending-reboot.
	// +optional
	ParameterApplyStatus string `json:"parameterApplyStatus,omitempty"`
	// masterUserSecretARN is the secret in AWS Secrets Manager in which RDS keeps the password that it manages.
	// +optional
	MasterUserSecretARN string `json:"masterUserSecretARN,omitempty"`
	// storageChangeTime is when RDS was last told to change the storage at once. It takes no other change of it for six
	// hours.
	// +optional
	StorageChangeTime *metav1.Time `json:"storageChangeTime,omitempty"`
	// finalSnapshotIdentifier is the snapshot that keeps the data of a database that is being deleted.
	// +optional
	FinalSnapshotIdentifier string `json:"finalSnapshotIdentifier,omitempty"`
	// passwordRotation is the value of the annotation portico.dev/rotate-password that was handled last.
	// +optional
	PasswordRotation string `json:"passwordRotation,omitempty"`
	// immediateGeneration is the generation of which RDS was last asked to make the changes at once.
	// +optional
	ImmediateGeneration int64 `json:"immediateGeneration,omitempty"`
}

// RDSInstance is a relational database that AWS runs, patches and backs up.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".spec.allocatedStorage",rule="(oldSelf.hasValue() && (has(self.spec.storageType) ? self.spec.storageType : 'none') == (has(oldSelf.value().spec.storageType) ? oldSelf.value().spec.storageType : 'none') && self.spec.allocatedStorage == oldSelf.value().spec.allocatedStorage && (has(self.spec.iops) ? self.spec.iops : 0) == (has(oldSelf.value().spec.iops) ? oldSelf.value().spec.iops : 0) && (has(self.spec.storageThroughput) ? self.spec.storageThroughput : 0) == (has(oldSelf.value().spec.storageThroughput) ? oldSelf.value().spec.storageThroughput : 0)) || (!has(self.spec.storageType) || self.spec.storageType != 'gp3' || self.spec.engine.startsWith('sqlserver') || (has(self.status) && has(self.status.allocatedStorage) && self.status.allocatedStorage > self.spec.allocatedStorage ? self.status.allocatedStorage : self.spec.allocatedStorage) >= (self.spec.engine.startsWith('oracle') ? 200 : 400) || (!has(self.spec.iops) && !has(self.spec.storageThroughput)))",message="gp3 of less than 400 GiB (Oracle: 200) has 3,000 operations and 125 MiB/s, and RDS takes no others: remove iops and storageThroughput, or ask for more storage"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".spec.allocatedStorage",rule="(oldSelf.hasValue() && (has(self.spec.storageType) ? self.spec.storageType : 'none') == (has(oldSelf.value().spec.storageType) ? oldSelf.value().spec.storageType : 'none') && self.spec.allocatedStorage == oldSelf.value().spec.allocatedStorage && (has(self.spec.iops) ? self.spec.iops : 0) == (has(oldSelf.value().spec.iops) ? oldSelf.value().spec.iops : 0) && (has(self.spec.storageThroughput) ? self.spec.storageThroughput : 0) == (has(oldSelf.value().spec.storageThroughput) ? oldSelf.value().spec.storageThroughput : 0)) || (!has(self.spec.storageType) || self.spec.storageType != 'gp3' || self.spec.engine.startsWith('sqlserver') || (has(self.status) && has(self.status.allocatedStorage) && self.status.allocatedStorage > self.spec.allocatedStorage ? self.status.allocatedStorage : self.spec.allocatedStorage) < (self.spec.engine.startsWith('oracle') ? 200 : 400) || ((!has(self.spec.iops) || self.spec.iops >= 12000) && (!has(self.spec.storageThroughput) || self.spec.storageThroughput >= 500)))",message="gp3 of 400 GiB and more (Oracle: 200) has at least 12,000 operations and 500 MiB/s: raise iops and storageThroughput, or remove them"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".spec.iops",rule="(oldSelf.hasValue() && (has(self.spec.storageType) ? self.spec.storageType : 'none') == (has(oldSelf.value().spec.storageType) ? oldSelf.value().spec.storageType : 'none') && self.spec.allocatedStorage == oldSelf.value().spec.allocatedStorage && (has(self.spec.iops) ? self.spec.iops : 0) == (has(oldSelf.value().spec.iops) ? oldSelf.value().spec.iops : 0) && (has(self.spec.storageThroughput) ? self.spec.storageThroughput : 0) == (has(oldSelf.value().spec.storageThroughput) ? oldSelf.value().spec.storageThroughput : 0)) || !has(self.spec.iops) || !has(self.spec.storageType) || self.spec.storageType != 'io1' || (self.spec.iops * 2 >= (has(self.status) && has(self.status.allocatedStorage) && self.status.allocatedStorage > self.spec.allocatedStorage ? self.status.allocatedStorage : self.spec.allocatedStorage) && self.spec.iops <= (has(self.status) && has(self.status.allocatedStorage) && self.status.allocatedStorage > self.spec.allocatedStorage ? self.status.allocatedStorage : self.spec.allocatedStorage) * 50)",message="io1 takes 0.5 to 50 operations for each GiB: change iops or allocatedStorage"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".spec.iops",rule="(oldSelf.hasValue() && (has(self.spec.storageType) ? self.spec.storageType : 'none') == (has(oldSelf.value().spec.storageType) ? oldSelf.value().spec.storageType : 'none') && self.spec.allocatedStorage == oldSelf.value().spec.allocatedStorage && (has(self.spec.iops) ? self.spec.iops : 0) == (has(oldSelf.value().spec.iops) ? oldSelf.value().spec.iops : 0) && (has(self.spec.storageThroughput) ? self.spec.storageThroughput : 0) == (has(oldSelf.value().spec.storageThroughput) ? oldSelf.value().spec.storageThroughput : 0)) || !has(self.spec.iops) || !has(self.spec.storageType) || self.spec.storageType != 'io2' || (self.spec.iops * 2 >= (has(self.status) && has(self.status.allocatedStorage) && self.status.allocatedStorage > self.spec.allocatedStorage ? self.status.allocatedStorage : self.spec.allocatedStorage) && self.spec.iops <= (has(self.status) && has(self.status.allocatedStorage) && self.status.allocatedStorage > self.spec.allocatedStorage ? self.status.allocatedStorage : self.spec.allocatedStorage) * 1000)",message="io2 takes 0.5 to 1,000 operations for each GiB: change iops or allocatedStorage"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".spec.allocatedStorage",rule="(oldSelf.hasValue() && (has(self.spec.storageType) ? self.spec.storageType : 'none') == (has(oldSelf.value().spec.storageType) ? oldSelf.value().spec.storageType : 'none') && self.spec.allocatedStorage == oldSelf.value().spec.allocatedStorage) || !has(self.spec.storageType) || !(self.spec.storageType in ['io1', 'io2']) || self.spec.engine.startsWith('sqlserver') || (has(self.status) && has(self.status.allocatedStorage) && self.status.allocatedStorage > self.spec.allocatedStorage ? self.status.allocatedStorage : self.spec.allocatedStorage) >= 100",message="io1 and io2 have at least 100 GiB: raise allocatedStorage"
// +kubebuilder:validation:XValidation:rule="self.spec.allocatedStorage >= oldSelf.spec.allocatedStorage || !has(self.status) || !has(self.status.allocatedStorage) || self.spec.allocatedStorage >= self.status.allocatedStorage",fieldPath=".spec.allocatedStorage",message="allocatedStorage cannot shrink below what there is (status.allocatedStorage): RDS only adds storage; keep the size, or move the data to a new, smaller database"
// +kubebuilder:resource:shortName=rds,categories=portico
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Engine",type=string,JSONPath=`.spec.engine`
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.status.instanceClass`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.dbInstanceStatus`,priority=1
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.engineVersion`,priority=1
// +kubebuilder:printcolumn:name="Storage",type=integer,JSONPath=`.status.allocatedStorage`,priority=1
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.providerRef.name`,priority=1
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.status.region`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:fieldPath=".spec.providerRef",rule="!has(self.status) || !(has(self.status.accountID)) || (self.spec.providerRef == oldSelf.spec.providerRef)",message="providerRef is immutable: the resource would stay behind in the old account; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.region",rule="!has(self.status) || !(has(self.status.accountID)) || (has(self.spec.region) == has(oldSelf.spec.region) && (!has(self.spec.region) || self.spec.region == oldSelf.spec.region))",message="region is immutable: the resource would stay behind in the old region; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.dbInstanceIdentifier",rule="!has(self.status) || !(has(self.status.accountID)) || (has(self.spec.dbInstanceIdentifier) == has(oldSelf.spec.dbInstanceIdentifier) && (!has(self.spec.dbInstanceIdentifier) || self.spec.dbInstanceIdentifier == oldSelf.spec.dbInstanceIdentifier))",message="dbInstanceIdentifier is immutable: renaming would break the endpoint; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.engine",rule="!has(self.status) || !(has(self.status.arn) || has(self.status.lastSyncTime)) || (self.spec.engine == oldSelf.spec.engine)",message="engine is immutable: RDS cannot turn one database into another; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.masterUsername",rule="!has(self.status) || !(has(self.status.arn) || has(self.status.lastSyncTime)) || (self.spec.masterUsername == oldSelf.spec.masterUsername)",message="masterUsername is immutable: RDS cannot rename the administrator; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.dbName",rule="!has(self.status) || !(has(self.status.arn) || has(self.status.lastSyncTime)) || (has(self.spec.dbName) == has(oldSelf.spec.dbName) && (!has(self.spec.dbName) || self.spec.dbName == oldSelf.spec.dbName))",message="dbName is immutable: RDS creates the database once; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.dbSubnetGroupName",rule="!has(self.status) || !(has(self.status.arn) || has(self.status.lastSyncTime)) || (has(self.spec.dbSubnetGroupName) == has(oldSelf.spec.dbSubnetGroupName) && (!has(self.spec.dbSubnetGroupName) || self.spec.dbSubnetGroupName == oldSelf.spec.dbSubnetGroupName))",message="dbSubnetGroupName is immutable: moving to another network is an outage; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.kmsKeyID",rule="!has(self.status) || !(has(self.status.arn) || has(self.status.lastSyncTime)) || (has(self.spec.kmsKeyID) == has(oldSelf.spec.kmsKeyID) && (!has(self.spec.kmsKeyID) || self.spec.kmsKeyID == oldSelf.spec.kmsKeyID))",message="kmsKeyID is immutable: RDS cannot change the key of what is there; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.storageEncrypted",rule="!has(self.status) || !(has(self.status.arn) || has(self.status.lastSyncTime)) || ((!has(self.spec.storageEncrypted) || self.spec.storageEncrypted) == (!has(oldSelf.spec.storageEncrypted) || oldSelf.spec.storageEncrypted))",message="storageEncrypted is immutable: RDS cannot encrypt or decrypt what is there; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.restoreFrom",rule="!has(self.status) || !(has(self.status.arn) || has(self.status.lastSyncTime)) || (has(self.spec.restoreFrom) == has(oldSelf.spec.restoreFrom) && (!has(self.spec.restoreFrom) || self.spec.restoreFrom == oldSelf.spec.restoreFrom))",message="restoreFrom is immutable: a database is restored once; delete this object and request a new one"
type RDSInstance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the database that the team wants.
	// +required
	Spec RDSInstanceSpec `json:"spec"`
	// status is the database that AWS has.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status RDSInstanceStatus `json:"status,omitempty"`
}

// Reasons of RDSInstances.
const (
	ReasonDeletedOutside          = "DeletedOutside"
	ReasonDowngradeImpossible     = "DowngradeImpossible"
	ReasonDroppingUsers           = "DroppingUsers" // people's own users are dropped from a database that stays
	ReasonFinalSnapshotExists     = "FinalSnapshotExists"
	ReasonFinalSnapshotImpossible = "FinalSnapshotImpossible"
	ReasonInvalidPassword         = "InvalidPassword"
	ReasonMajorUpgradeNotAllowed  = "MajorUpgradeNotAllowed"
	ReasonModifying               = "Modifying" // RDS is applying a change
	ReasonPasswordChanging        = "PasswordChanging"
	ReasonRotationWaits           = "RotationWaits"
	ReasonSecretCreating          = "SecretCreating"
	ReasonSecretImpaired          = "SecretImpaired"
	ReasonSnapshotCreating        = "SnapshotCreating"
	ReasonSnapshotMismatch        = "SnapshotMismatch"
	ReasonStorageOptimizing       = "StorageOptimizing"
)
