package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// rdsInstance describes the kind RDSInstance.
var rdsInstance = v1alpha1.CatalogEntrySpec{
	Definition: ours("rdsinstances"), Title: "Database", Icon: "database",
	Form: v1alpha1.CatalogForm{
		First: fields(
			"providerRef engine engineVersion dbInstanceClass allocatedStorage masterUsername dbName",
			"deletionPolicy",
		),
		Order: fields(
			"dbInstanceIdentifier allowMajorVersionUpgrade autoMinorVersionUpgrade",
			"engineLifecycleSupport licenseModel maxAllocatedStorage storageType iops storageThroughput",
			"masterUserPasswordSecretRef name key manageMasterUserPassword masterUserSecretKmsKeyID",
			"multiAZ port publiclyAccessible dbSubnetGroupName vpcSecurityGroupIDs storageEncrypted",
			"kmsKeyID dbParameterGroupName backupRetentionPeriod preferredBackupWindow",
			"preferredMaintenanceWindow applyImmediately performanceInsightsEnabled",
			"enabledCloudwatchLogsExports deletionProtection skipFinalSnapshot finalSnapshotIdentifier",
			"deleteAutomatedBackups restoreFrom snapshotIdentifier tags region adoptionPolicy",
			"managementPolicy",
		),
		Begins: []v1alpha1.CatalogValue{
			{Field: "engine", Value: "postgres"},
			{Field: "dbInstanceClass", Value: "db.t3.micro"},
			{Field: "allocatedStorage", Value: "20"},
			{Field: "masterUsername", Value: "dbadmin"},
		},
		Unique: fields("dbInstanceIdentifier"),
		Offers: []v1alpha1.CatalogOffer{
			{Field: "dbInstanceClass", DependsOn: fields("engine engineVersion")},
			{Field: "dbParameterGroupName", DependsOn: fields("engine")},
			{Field: "dbSubnetGroupName", Complete: true},
			{Field: "engineVersion", DependsOn: fields("engine")},
			{Field: "vpcSecurityGroupIDs", Complete: true},
		},
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".status.endpoint",
		Columns:  words("Engine Version Class"),
		Sentence: []v1alpha1.CatalogClause{
			clause(
				phrase("{engine} {engineVersion}"),
				phrase("{engine} in the version of the snapshot", set("restoreFrom")),
				phrase("{engine} in the version that AWS prefers"),
			),
			clause(phrase("with the data of the snapshot", set("restoreFrom"))),
			clause(phrase("on {dbInstanceClass}")),
			clause(
				phrase("with {allocatedStorage} that grow up to {maxAllocatedStorage}"),
				phrase("with {allocatedStorage}"),
			),
			clause(phrase("with a standby in another zone", is("multiAZ", "true"))),
			clause(
				phrase("reachable from the internet", is("publiclyAccessible", "true")),
				phrase("private", is("publiclyAccessible", "false")),
				phrase("private", made()),
			),
			clause(
				phrase("not encrypted", is("storageEncrypted", "false")),
				phrase("encrypted", is("storageEncrypted", "true")),
				phrase("encrypted", unset("restoreFrom"), made()),
			),
			clause(
				phrase("without backups", is("backupRetentionPeriod", "0")),
				phrase("backed up for {backupRetentionPeriod}"),
			),
			clause(
				observed,
				phrase("protected from deletion", is("deletionProtection", "true")),
				retained,
				orphaned,
				phrase("deleted without a final snapshot when you delete it here", is("skipFinalSnapshot", "true")),
				phrase("deleted with a final snapshot when you delete it here"),
			),
		},
	},
	Changes: []v1alpha1.CatalogChange{
		{
			Fields: fields("engineVersion dbInstanceClass multiAZ allocatedStorage storageType iops storageThroughput"),
			Effect: "What interrupts the database waits for its maintenance window, unless applyImmediately is set.",
		},
		{
			Fields: fields("port"),
			Effect: "The database restarts at once.",
		},
		{
			Fields: fields("backupRetentionPeriod"), Lower: true,
			Effect: "Recovery points that are older than the new period are deleted at once; 0 deletes them all. " +
				"This cannot be undone.",
		},
		decidesDeletion("deletionPolicy"),
		decidesDeletion("skipFinalSnapshot"),
	},
	Deletion: v1alpha1.CatalogDeletion{
		Confirmed:   true,
		Deleted:     "deleted from AWS, after a final snapshot",
		Effect:      "A final snapshot is taken first: a new database can be restored from it.",
		LossyField:  "skipFinalSnapshot",
		Loss:        "All data is deleted: skipFinalSnapshot is set. This cannot be undone.",
		ProtectedBy: "deletionProtection",
		Editable: words("deletionPolicy deletionProtection skipFinalSnapshot finalSnapshotIdentifier",
			"deleteAutomatedBackups managementPolicy"),
	},
}
