package guardrails

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

const (
	requireEncryption     = "requireEncryption"
	allowedSecurityGroups = "allowedSecurityGroups"
)

// table is every rule that an object's own words decide. What only AWS knows, such as who owns an image, the adapters
// check.
var table = slices.Concat(machines, databases, others, buckets())

var machines = []Rule{
	{Kind: v1alpha1.KindEC2Instance, Name: "allowedInstanceTypes", Field: "instanceType", test: oneOf("instanceType", byPattern)},
	{Kind: v1alpha1.KindEC2Instance, Name: "maxVolumeSizeGiB", Field: "blockDeviceMappings", test: volumes()},
	{Kind: v1alpha1.KindEC2Instance, Name: requireEncryption, Field: "blockDeviceMappings", test: encryptedVolumes()},
	{
		Kind: v1alpha1.KindEC2Instance, Name: "requireIMDSv2", Field: "metadataOptions.httpTokens",
		watch: []string{"metadataOptions.httpTokens", "metadataOptions.httpEndpoint"},
		test:  unless(is("metadataOptions.httpEndpoint", "disabled"), always("metadataOptions.httpTokens", "required")),
	},
	{Kind: v1alpha1.KindEC2Instance, Name: "allowedSubnets", Team: true, Field: "subnetID", test: present("subnetID", oneOf("subnetID", exactly))},
	{Kind: v1alpha1.KindEC2Instance, Name: allowedSecurityGroups, Team: true, Field: "securityGroupIDs", test: present("securityGroupIDs", allOf("securityGroupIDs"))},
	{Kind: v1alpha1.KindEC2Instance, Name: "allowedImages", Team: true, Field: "imageID", test: oneOf("imageID", exactly)},
}

var databases = []Rule{
	{Kind: v1alpha1.KindRDSInstance, Name: "allowedDatabaseClasses", Field: "dbInstanceClass", test: oneOf("dbInstanceClass", byPattern)},
	{Kind: v1alpha1.KindRDSInstance, Name: "allowedEngines", Field: "engine", watch: []string{"engine", "engineVersion"}, test: engines()},
	{Kind: v1alpha1.KindRDSInstance, Name: "maxDatabaseStorageGiB", Field: "allocatedStorage", test: atMost("allocatedStorage")},
	{Kind: v1alpha1.KindRDSInstance, Name: "maxDatabaseStorageGiB", Field: "maxAllocatedStorage", test: atMost("maxAllocatedStorage")},
	{Kind: v1alpha1.KindRDSInstance, Name: "requirePrivateDatabases", Field: "publiclyAccessible", test: always("publiclyAccessible", false)},
	{
		// which other engines do not have
		Kind: v1alpha1.KindRDSInstance, Name: "forbidExtendedSupport", Field: "engineLifecycleSupport",
		test: unless(not(is("engine", "mysql", "postgres")),
			always("engineLifecycleSupport", "open-source-rds-extended-support-disabled")),
	},
	{
		// of a snapshot, it is as that is
		Kind: v1alpha1.KindRDSInstance, Name: requireEncryption, Field: "storageEncrypted",
		test: unless(has("restoreFrom"), always("storageEncrypted", true)),
	},
	{
		Kind: v1alpha1.KindRDSInstance, Name: "allowedSubnetGroups", Team: true, Field: "dbSubnetGroupName",
		test: present("dbSubnetGroupName", oneOf("dbSubnetGroupName", inAnyCase)),
	},
	{Kind: v1alpha1.KindRDSInstance, Name: allowedSecurityGroups, Team: true, Field: "vpcSecurityGroupIDs", test: present("vpcSecurityGroupIDs", allOf("vpcSecurityGroupIDs"))},
}

var others = []Rule{
	{
		Kind: v1alpha1.KindSQSQueue, Name: requireEncryption, Field: "sqsManagedSseEnabled",
		watch: []string{"sqsManagedSseEnabled", "kmsMasterKeyId"},
		test:  unless(has("kmsMasterKeyId"), always("sqsManagedSseEnabled", true)),
	},
	{
		Kind: v1alpha1.KindSQSQueue, Name: "allowedDeadLetterQueues", Team: true, Field: "deadLetterQueue.targetArn",
		test: oneOf("deadLetterQueue.targetArn", exactly),
	},
	{
		Kind: v1alpha1.KindSQSQueue, Name: "allowedSenders", Team: true, Field: "allowFrom",
		test: membersMatch("allowFrom", "arn"),
	},
	{
		Kind: v1alpha1.KindSNSTopic, Name: "allowedSenders", Team: true, Field: "allowFrom",
		test: membersMatch("allowFrom", "arn"),
	},
	{
		Kind: v1alpha1.KindSNSTopic, Name: "allowedSubscribers", Team: true, Field: "subscriptions",
		test: membersMatch("subscriptions", "https", "email"),
	},
	{Kind: v1alpha1.KindSNSTopic, Name: requireEncryption, Field: "kmsMasterKeyId", test: anyKey()},
	{Kind: v1alpha1.KindWebApp, Name: "allowedImageRegistries", Team: true, Field: "image", test: repository()},
}

// buckets has a rule for each of the switches that together keep a bucket private.
func buckets() []Rule {
	var all []Rule
	for _, name := range []string{"blockPublicAcls", "ignorePublicAcls", "blockPublicPolicy", "restrictPublicBuckets"} {
		path := "publicAccessBlock." + name
		all = append(all, Rule{
			Kind: v1alpha1.KindS3Bucket, Name: "requirePrivateBuckets", Field: path,
			test: always(path, true),
		})
	}
	const path = "requireTLS" // which buckets of earlier versions leave out
	return append(all, Rule{
		Kind: v1alpha1.KindS3Bucket, Name: requireEncryption, Field: path,
		test: unless(not(has(path)), always(path, true)),
	})
}

// anyKey takes a topic with a KMS key: SNS encrypts none without.
func anyKey() test {
	return present("kmsMasterKeyId", test{
		refused: func(spec, any) []string { return nil }, cel: "[]",
		allowed: words("topics with a KMS key, such as alias/aws/sns"),
	})
}

// engines allows databases with a listed engine, in a listed version if the list has versions. An incomplete version
// such as 16 counts as 16.*.
func engines() test {
	return test{
		refused: func(s spec, limit any) []string {
			engine := fmt.Sprint(s["engine"])
			v, _ := s["engineVersion"].(string)
			for _, e := range objects(limit) {
				versions, some := e["versions"]
				if e["engine"] == engine &&
					(!some || v != "" && (anyMatches(versions, v) || anyMatches(versions, v+"."))) {
					return nil
				}
			}
			return []string{strings.TrimSpace(engine + " " + cmp.Or(v, "without engineVersion"))}
		},
		cel: "variables.l.exists(e, e.engine == variables.s.engine && (!has(e.versions) || " +
			"has(variables.s.engineVersion) && e.versions.exists(p, " +
			matchesCEL("variables.s.engineVersion") + " || " + matchesCEL("(variables.s.engineVersion + '.')") +
			"))) ? [] : " +
			"[variables.s.engine + ' ' + (has(variables.s.engineVersion) ? variables.s.engineVersion : 'without " +
			"engineVersion')]",
		choices: func(limit any) []string {
			var all []string
			for _, e := range objects(limit) {
				all = append(all, fmt.Sprint(e["engine"]))
			}
			return all
		},
		allowed: says{
			func(limit any) string {
				var all []string
				for _, e := range objects(limit) {
					all = append(all, strings.TrimSpace(
						fmt.Sprint(e["engine"])+" "+strings.Join(texts(e["versions"]), " or ")))
				}
				return Shorten(all)
			},
			shortenCEL("variables.l.map(e, has(e.versions) ? e.engine + ' ' + e.versions.join(' or ') : e.engine)"),
		},
	}
}
