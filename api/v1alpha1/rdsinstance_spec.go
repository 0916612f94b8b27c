package v1alpha1

// RDSInstanceSpec is the database that a team wants. A field left out is not managed and keeps AWS's default, save for
// three that are safe when left out: a database is encrypted, not reachable from the internet, and without paid
// Extended Support.
// +kubebuilder:validation:XValidation:rule="!has(self.maxAllocatedStorage) || self.maxAllocatedStorage >= self.allocatedStorage",message="maxAllocatedStorage must not be less than allocatedStorage: raise it, or remove it to switch autoscaling off"
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKeyID) || !has(self.storageEncrypted) || self.storageEncrypted",message="kmsKeyID needs encryption: remove storageEncrypted: false"
// +kubebuilder:validation:XValidation:rule="!has(self.restoreFrom) || (!has(self.kmsKeyID) && !has(self.storageEncrypted) && !has(self.dbName))",message="with restoreFrom the database's name and encryption come from the snapshot: remove dbName, storageEncrypted and kmsKeyID"
// +kubebuilder:validation:XValidation:rule="!has(self.masterUserPasswordSecretRef) || !has(self.manageMasterUserPassword) || !self.manageMasterUserPassword",message="choose one source of the password: masterUserPasswordSecretRef, manageMasterUserPassword: true, or neither, and Portico generates one"
// +kubebuilder:validation:XValidation:rule="!has(self.masterUserSecretKmsKeyID) || (has(self.manageMasterUserPassword) && self.manageMasterUserPassword)",message="masterUserSecretKmsKeyID needs manageMasterUserPassword: true"
// +kubebuilder:validation:XValidation:rule="!(has(self.manageMasterUserPassword) && self.manageMasterUserPassword && has(oldSelf.manageMasterUserPassword) && oldSelf.manageMasterUserPassword) || (has(self.masterUserSecretKmsKeyID) == has(oldSelf.masterUserSecretKmsKeyID) && (!has(self.masterUserSecretKmsKeyID) || self.masterUserSecretKmsKeyID == oldSelf.masterUserSecretKmsKeyID))",message="masterUserSecretKmsKeyID cannot change while RDS manages the password: switch manageMasterUserPassword off first, and on again with the new key"
// +kubebuilder:validation:XValidation:rule="!has(self.storageType) || !(self.storageType in ['io1', 'io2']) || has(self.iops)",message="storageType io1 and io2 need iops"
// +kubebuilder:validation:XValidation:rule="!has(self.iops) || !has(self.storageType) || !(self.storageType in ['gp2', 'standard'])",message="storageType gp2 and standard have no operations to provision: remove iops, or choose gp3, io1 or io2"
// +kubebuilder:validation:XValidation:rule="!has(self.storageThroughput) || (has(self.storageType) && self.storageType == 'gp3')",message="storageThroughput needs storageType: gp3"
// +kubebuilder:validation:XValidation:rule="!(self.masterUsername.lowerAscii() in ['rdsadmin', 'rdsrepladmin', 'rdstopmgr'])",message="RDS keeps this user name for itself; choose another masterUsername"
// +kubebuilder:validation:XValidation:rule="self.engine != 'postgres' || !(self.masterUsername.lowerAscii() in ['admin', 'user', 'public'])",message="this masterUsername is a reserved word of PostgreSQL; choose another one, such as postgres"
// +kubebuilder:validation:XValidation:rule="!self.engine.startsWith('sqlserver') || !(self.masterUsername.lowerAscii() in ['sa', 'public', 'guest', 'dbo'])",message="this masterUsername is reserved by SQL Server; choose another one, such as admin"
// +kubebuilder:validation:XValidation:rule="!self.engine.startsWith('oracle') || !(self.masterUsername.lowerAscii() in ['sys', 'system', 'public'])",message="this masterUsername is reserved by Oracle; choose another one, such as admin"
// +kubebuilder:validation:XValidation:rule="!(self.engine in ['mysql', 'mariadb']) || size(self.masterUsername) <= 16",message="a masterUsername of MySQL and MariaDB has at most 16 characters"
// +kubebuilder:validation:XValidation:rule="!self.engine.startsWith('oracle') || size(self.masterUsername) <= 30",message="a masterUsername of Oracle has at most 30 characters"
// +kubebuilder:validation:XValidation:rule="!has(self.dbName) || !self.engine.startsWith('sqlserver')",message="SQL Server has no dbName: remove it, and create databases by SQL"
// +kubebuilder:validation:XValidation:rule="!has(self.dbName) || !self.engine.startsWith('oracle') || size(self.dbName) <= 8",message="a dbName of Oracle is a SID of at most 8 characters"
// +kubebuilder:validation:XValidation:rule="!has(self.engineLifecycleSupport) || self.engine in ['mysql', 'postgres']",message="only MySQL and PostgreSQL have an Extended Support: remove engineLifecycleSupport"
// +kubebuilder:validation:XValidation:rule="!has(self.licenseModel) || self.engine == 'oracle-se2' || (self.engine == 'oracle-ee' && self.licenseModel == 'bring-your-own-license')",message="only oracle-se2 has a choice, and oracle-ee needs a license of one's own: remove licenseModel"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".storageThroughput",rule="(oldSelf.hasValue() && (has(self.storageType) ? self.storageType : 'none') == (has(oldSelf.value().storageType) ? oldSelf.value().storageType : 'none') && self.allocatedStorage == oldSelf.value().allocatedStorage && (has(self.iops) ? self.iops : 0) == (has(oldSelf.value().iops) ? oldSelf.value().iops : 0) && (has(self.storageThroughput) ? self.storageThroughput : 0) == (has(oldSelf.value().storageThroughput) ? oldSelf.value().storageThroughput : 0)) || !has(self.storageThroughput) || self.storageThroughput * 4 <= (has(self.iops) ? self.iops : self.engine.startsWith('sqlserver') ? 3000 : 12000)",message="gp3 gives at most a quarter of a MiB/s for each operation: raise iops to four times storageThroughput, or lower storageThroughput"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".masterUsername",rule="(oldSelf.hasValue() && self.masterUsername == oldSelf.value().masterUsername) || self.engine != 'postgres' || (!self.masterUsername.lowerAscii().startsWith('pg_') && !(self.masterUsername.lowerAscii() in ['all', 'analyse', 'analyze', 'and', 'any', 'array', 'as', 'asc', 'asymmetric', 'both', 'case', 'cast', 'check', 'collate', 'column', 'constraint', 'create', 'current_catalog', 'current_date', 'current_role', 'current_time', 'current_timestamp', 'current_user', 'default', 'deferrable', 'desc', 'distinct', 'do', 'else', 'end', 'except', 'false', 'fetch', 'for', 'foreign', 'from', 'grant', 'group', 'having', 'in', 'initially', 'intersect', 'into', 'lateral', 'leading', 'limit', 'localtime', 'localtimestamp', 'not', 'null', 'offset', 'on', 'only', 'or', 'order', 'placing', 'primary', 'references', 'returning', 'select', 'session_user', 'some', 'symmetric', 'system_user', 'table', 'then', 'to', 'trailing', 'true', 'union', 'unique', 'using', 'variadic', 'when', 'where', 'window', 'with']))",message="this masterUsername is a reserved word of PostgreSQL; choose another one, such as postgres"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".dbName",rule="(oldSelf.hasValue() && has(self.dbName) && has(oldSelf.value().dbName) && self.dbName == oldSelf.value().dbName) || self.engine != 'postgres' || !has(self.dbName) || !(self.dbName.lowerAscii() in ['all', 'analyse', 'analyze', 'and', 'any', 'array', 'as', 'asc', 'asymmetric', 'both', 'case', 'cast', 'check', 'collate', 'column', 'constraint', 'create', 'current_catalog', 'current_date', 'current_role', 'current_time', 'current_timestamp', 'current_user', 'default', 'deferrable', 'desc', 'distinct', 'do', 'else', 'end', 'except', 'false', 'fetch', 'for', 'foreign', 'from', 'grant', 'group', 'having', 'in', 'initially', 'intersect', 'into', 'lateral', 'leading', 'limit', 'localtime', 'localtimestamp', 'not', 'null', 'offset', 'on', 'only', 'or', 'order', 'placing', 'primary', 'references', 'returning', 'select', 'session_user', 'some', 'symmetric', 'system_user', 'table', 'then', 'to', 'trailing', 'true', 'union', 'unique', 'using', 'variadic', 'when', 'where', 'window', 'with'])",message="this dbName is a reserved word of PostgreSQL; choose another one, such as app"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".port",rule="(oldSelf.hasValue() && (has(self.port) ? self.port : 0) == (has(oldSelf.value().port) ? oldSelf.value().port : 0)) || !has(self.port) || !self.engine.startsWith('sqlserver') || !(self.port in [1234, 1434, 3260, 3343, 3389, 47001] || (self.port >= 49152 && self.port <= 49156))",message="SQL Server keeps the ports 1234, 1434, 3260, 3343, 3389, 47001 and 49152 to 49156 for itself: choose another one, such as 1433"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".preferredBackupWindow",rule="(oldSelf.hasValue() && (has(self.preferredBackupWindow) ? self.preferredBackupWindow : 'none') == (has(oldSelf.value().preferredBackupWindow) ? oldSelf.value().preferredBackupWindow : 'none')) || !(has(self.preferredBackupWindow) && size(self.preferredBackupWindow) == 11) || ((int(self.preferredBackupWindow.substring(6, 8)) * 60 + int(self.preferredBackupWindow.substring(9, 11))) - (int(self.preferredBackupWindow.substring(0, 2)) * 60 + int(self.preferredBackupWindow.substring(3, 5))) + 1440) % 1440 >= 30",message="the backup window must be at least 30 minutes: make it end later, as in 02:00-02:30"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".preferredMaintenanceWindow",rule="(oldSelf.hasValue() && (has(self.preferredMaintenanceWindow) ? self.preferredMaintenanceWindow : 'none') == (has(oldSelf.value().preferredMaintenanceWindow) ? oldSelf.value().preferredMaintenanceWindow : 'none')) || !(has(self.preferredMaintenanceWindow) && size(self.preferredMaintenanceWindow) == 19) || ((('montuewedthufrisatsun'.indexOf(self.preferredMaintenanceWindow.lowerAscii().substring(10, 13)) / 3 * 1440 + int(self.preferredMaintenanceWindow.substring(14, 16)) * 60 + int(self.preferredMaintenanceWindow.substring(17, 19))) - ('montuewedthufrisatsun'.indexOf(self.preferredMaintenanceWindow.lowerAscii().substring(0, 3)) / 3 * 1440 + int(self.preferredMaintenanceWindow.substring(4, 6)) * 60 + int(self.preferredMaintenanceWindow.substring(7, 9))) + 10080) % 10080 >= 30 && (('montuewedthufrisatsun'.indexOf(self.preferredMaintenanceWindow.lowerAscii().substring(10, 13)) / 3 * 1440 + int(self.preferredMaintenanceWindow.substring(14, 16)) * 60 + int(self.preferredMaintenanceWindow.substring(17, 19))) - ('montuewedthufrisatsun'.indexOf(self.preferredMaintenanceWindow.lowerAscii().substring(0, 3)) / 3 * 1440 + int(self.preferredMaintenanceWindow.substring(4, 6)) * 60 + int(self.preferredMaintenanceWindow.substring(7, 9))) + 10080) % 10080 <= 1440)",message="the maintenance window must be at least 30 minutes and at most 24 hours: change its end, as in sun:03:00-sun:03:30"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".preferredBackupWindow",rule="(oldSelf.hasValue() && (has(self.preferredBackupWindow) ? self.preferredBackupWindow : 'none') == (has(oldSelf.value().preferredBackupWindow) ? oldSelf.value().preferredBackupWindow : 'none') && (has(self.preferredMaintenanceWindow) ? self.preferredMaintenanceWindow : 'none') == (has(oldSelf.value().preferredMaintenanceWindow) ? oldSelf.value().preferredMaintenanceWindow : 'none')) || !(has(self.preferredBackupWindow) && size(self.preferredBackupWindow) == 11 && has(self.preferredMaintenanceWindow) && size(self.preferredMaintenanceWindow) == 19) || (((int(self.preferredBackupWindow.substring(0, 2)) * 60 + int(self.preferredBackupWindow.substring(3, 5))) - (int(self.preferredMaintenanceWindow.substring(4, 6)) * 60 + int(self.preferredMaintenanceWindow.substring(7, 9))) + 1440) % 1440 >= (('montuewedthufrisatsun'.indexOf(self.preferredMaintenanceWindow.lowerAscii().substring(10, 13)) / 3 * 1440 + int(self.preferredMaintenanceWindow.substring(14, 16)) * 60 + int(self.preferredMaintenanceWindow.substring(17, 19))) - ('montuewedthufrisatsun'.indexOf(self.preferredMaintenanceWindow.lowerAscii().substring(0, 3)) / 3 * 1440 + int(self.preferredMaintenanceWindow.substring(4, 6)) * 60 + int(self.preferredMaintenanceWindow.substring(7, 9))) + 10080) % 10080 && ((int(self.preferredMaintenanceWindow.substring(4, 6)) * 60 + int(self.preferredMaintenanceWindow.substring(7, 9))) - (int(self.preferredBackupWindow.substring(0, 2)) * 60 + int(self.preferredBackupWindow.substring(3, 5))) + 1440) % 1440 >= ((int(self.preferredBackupWindow.substring(6, 8)) * 60 + int(self.preferredBackupWindow.substring(9, 11))) - (int(self.preferredBackupWindow.substring(0, 2)) * 60 + int(self.preferredBackupWindow.substring(3, 5))) + 1440) % 1440)",message="the backup window, which is daily, and the maintenance window must not overlap: move one of them"
type RDSInstanceSpec struct {
	AWSSpec `json:",inline"`
	// dbInstanceIdentifier is the instance's name in RDS, unique in the account and region; case does not count. Left
	// out, Portico picks <namespace>-<name>-<hash>. Immutable once it is created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$') && !self.contains('--')",message="use letters, digits and single hyphens; begin with a letter and do not end with a hyphen"
	// +optional
	DBInstanceIdentifier string `json:"dbInstanceIdentifier,omitempty"`
	// engine is the database engine. Immutable once it is created.
	// +kubebuilder:validation:Enum=postgres;mysql;mariadb;oracle-ee;oracle-se2;sqlserver-ee;sqlserver-se;sqlserver-ex;sqlserver-web
	// +required
	Engine string `json:"engine"`
	// engineVersion is the version, or the part of it that matters: 16 matches any 16.x, and 16.4 matches 16.4 and,
	// unless autoMinorVersionUpgrade is false, newer minor versions.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+([.-][0-9A-Za-z]+)*$')",message="give a version such as 16, 16.4 or 8.0.39"
	// +optional
	EngineVersion string `json:"engineVersion,omitempty"`
	// allowMajorVersionUpgrade consents to a change of engineVersion to another major version, which cannot be undone.
	// +optional
	AllowMajorVersionUpgrade bool `json:"allowMajorVersionUpgrade,omitempty"`
	// autoMinorVersionUpgrade lets AWS install minor versions in the maintenance window; AWS's default is true.
	// +optional
	AutoMinorVersionUpgrade *bool `json:"autoMinorVersionUpgrade,omitempty"`
	// dbInstanceClass is the size of the machine, such as db.t4g.micro.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^db[.][a-z0-9-]+[.][a-z0-9.-]+$')",message="an instance class looks like db.t4g.micro"
	// +required
	DBInstanceClass string `json:"dbInstanceClass"`
	// allocatedStorage is the size of the storage in GiB. It can grow and never shrink below what there is; what AWS's
	// autoscaling added is left as it is.
	// +kubebuilder:validation:Minimum=20
	// +kubebuilder:validation:Maximum=65536
	// +required
	AllocatedStorage int32 `json:"allocatedStorage"`
	// maxAllocatedStorage lets AWS add storage by itself up to this size, in GiB. If left out, it does not.
	// +kubebuilder:validation:Minimum=20
	// +kubebuilder:validation:Maximum=65536
	// +optional
	MaxAllocatedStorage *int32 `json:"maxAllocatedStorage,omitempty"`
	// storageType is the type of the storage.
	// +kubebuilder:validation:Enum=gp2;gp3;io1;io2;standard
	// +optional
	StorageType string `json:"storageType,omitempty"`
	// iops is the provisioned number of input and output operations a second.
	// +kubebuilder:validation:Minimum=1000
	// +kubebuilder:validation:Maximum=256000
	// +optional
	IOPS *int32 `json:"iops,omitempty"`
	// storageThroughput is the provisioned throughput of gp3, in MiB/s.
	// +kubebuilder:validation:Minimum=125
	// +kubebuilder:validation:Maximum=4000
	// +optional
	StorageThroughput *int32 `json:"storageThroughput,omitempty"`
	// masterUsername is the administrator of the database. Immutable once it is created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z][A-Za-z0-9_]*$')",message="use letters, digits and underscores; begin with a letter"
	// +required
	MasterUsername string `json:"masterUsername"`
	// masterUserPasswordSecretRef names a Secret of this namespace that holds the administrator's password. Its content
	// is compared at every check, and a change is applied. If left out, and without manageMasterUserPassword, Portico
	// generates a password.
	// +optional
	MasterUserPasswordSecretRef *SecretKeyRef `json:"masterUserPasswordSecretRef,omitempty"`
	// manageMasterUserPassword true leaves the password to RDS, which keeps and rotates it in AWS Secrets Manager.
	// +optional
	ManageMasterUserPassword bool `json:"manageMasterUserPassword,omitempty"`
	// masterUserSecretKmsKeyID encrypts the secret in Secrets Manager with this KMS key: its ID, ARN or alias.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	MasterUserSecretKmsKeyID string `json:"masterUserSecretKmsKeyID,omitempty"`
	// dbName is the database that RDS creates in the instance; for Oracle, its SID. Immutable once it is created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="use letters, digits and underscores; begin with a letter or an underscore"
	// +optional
	DBName           string `json:"dbName,omitempty"`
	RDSNetworkSpec   `json:",inline"`
	RDSOperationSpec `json:",inline"`
}
