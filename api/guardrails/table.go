package guardrails

import (
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
	{Kind: v1alpha1.KindEC2Instance, Name: "allowedInstanceTypes", Field: "instanceType", test: oneOf("instanceType")},
	{Kind: v1alpha1.KindEC2Instance, Name: "maxVolumeSizeGiB", Field: "blockDeviceMappings", test: volumes()},
	{Kind: v1alpha1.KindEC2Instance, Name: requireEncryption, Field: "blockDeviceMappings", test: encryptedVolumes()},
	{
		Kind: v1alpha1.KindEC2Instance, Name: "requireIMDSv2", Field: "metadataOptions.httpTokens",
		watch: []string{"metadataOptions.httpTokens", "metadataOptions.httpEndpoint"},
		test: unless(func(s spec) bool { v, _ := at(s, "metadataOptions.httpEndpoint"); return v == "disabled" },
			"("+hasCEL("metadataOptions.httpEndpoint")+" && variables.s.metadataOptions.httpEndpoint == 'disabled')",
			always("metadataOptions.httpTokens", "required")),
	},
	{Kind: v1alpha1.KindEC2Instance, Name: "allowedSubnets", Team: true, Field: "subnetID", test: in("subnetID", exactly, "%s")},
	{Kind: v1alpha1.KindEC2Instance, Name: allowedSecurityGroups, Team: true, Field: "securityGroupIDs", test: allIn("securityGroupIDs")},
	{Kind: v1alpha1.KindEC2Instance, Name: "allowedImages", Team: true, Field: "imageID", test: maybeIn("imageID")},
}

var databases = []Rule{
	{Kind: v1alpha1.KindRDSInstance, Name: "allowedDatabaseClasses", Field: "dbInstanceClass", test: oneOf("dbInstanceClass")},
	{Kind: v1alpha1.KindRDSInstance, Name: "allowedEngines", Field: "engine", watch: []string{"engine", "engineVersion"}, test: engines()},
	{Kind: v1alpha1.KindRDSInstance, Name: "maxDatabaseStorageGiB", Field: "allocatedStorage", test: atMost("allocatedStorage")},
	{Kind: v1alpha1.KindRDSInstance, Name: "maxDatabaseStorageGiB", Field: "maxAllocatedStorage", test: atMost("maxAllocatedStorage")},
	{Kind: v1alpha1.KindRDSInstance, Name: "requirePrivateDatabases", Field: "publiclyAccessible", test: always("publiclyAccessible", false)},
	{
		// which other engines do not have
		Kind: v1alpha1.KindRDSInstance, Name: "forbidExtendedSupport", Field: "engineLifecycleSupport",
		test: unless(func(s spec) bool { return s["engine"] != "mysql" && s["engine"] != "postgres" },
			"(!(variables.s.engine in ['mysql', 'postgres']))",
			always("engineLifecycleSupport", "open-source-rds-extended-support-disabled")),
	},
	{
		// of a snapshot, it is as that is
		Kind: v1alpha1.KindRDSInstance, Name: requireEncryption, Field: "storageEncrypted",
		test: unless(func(s spec) bool { _, ok := s["restoreFrom"]; return ok }, "has(variables.s.restoreFrom)",
			always("storageEncrypted", true)),
	},
	{
		Kind: v1alpha1.KindRDSInstance, Name: "allowedSubnetGroups", Team: true, Field: "dbSubnetGroupName",
		test: in("dbSubnetGroupName", strings.ToLower, "%s.lowerAscii()"),
	},
	{Kind: v1alpha1.KindRDSInstance, Name: allowedSecurityGroups, Team: true, Field: "vpcSecurityGroupIDs", test: allIn("vpcSecurityGroupIDs")},
}

var others = []Rule{
	{
		Kind: v1alpha1.KindSQSQueue, Name: requireEncryption, Field: "sqsManagedSseEnabled",
		watch: []string{"sqsManagedSseEnabled", "kmsMasterKeyId"},
		test: unless(func(s spec) bool { _, ok := s["kmsMasterKeyId"]; return ok }, "has(variables.s.kmsMasterKeyId)",
			always("sqsManagedSseEnabled", true)),
	},
	{
		Kind: v1alpha1.KindSQSQueue, Name: "allowedDeadLetterQueues", Team: true, Field: "deadLetterQueue.targetArn",
		test: maybeIn("deadLetterQueue.targetArn"),
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
	left := func(s spec) bool { _, ok := s[path]; return !ok }
	return append(all, Rule{
		Kind: v1alpha1.KindS3Bucket, Name: requireEncryption, Field: path,
		test: unless(left, "!has(variables.s."+path+")", always(path, true)),
	})
}

// anyKey takes a topic with a KMS key: SNS encrypts none without.
func anyKey() test {
	return test{
		refused: func(s spec, _ any) []string {
			if _, ok := s["kmsMasterKeyId"]; !ok {
				return []string{leftOut}
			}
			return nil
		},
		cel:        "has(variables.s.kmsMasterKeyId) ? [] : ['" + leftOut + "']",
		allowed:    words("topics with a KMS key, such as alias/aws/sns"),
		allowedCEL: "'topics with a KMS key, such as alias/aws/sns'",
	}
}

// engines allows databases with a listed engine, in a listed version if the list has versions. An incomplete version
// such as 16 counts as 16.*.
func engines() test {
	version := func(s spec) string { v, _ := s["engineVersion"].(string); return v }
	return test{
		refused: func(s spec, limit any) []string {
			engine, v := fmt.Sprint(s["engine"]), version(s)
			for _, e := range entries(limit) {
				versions, some := e["versions"]
				if e["engine"] == engine &&
					(!some || v != "" && (anyMatches(versions, v) || anyMatches(versions, v+"."))) {
					return nil
				}
			}
			return []string{strings.TrimSpace(engine + " " + orElse(v, "without engineVersion"))}
		},
		cel: "variables.l.exists(e, e.engine == variables.s.engine && (!has(e.versions) || " +
			"has(variables.s.engineVersion) && e.versions.exists(p, " +
			matchesCEL("variables.s.engineVersion") + " || " + matchesCEL("(variables.s.engineVersion + '.')") +
			"))) ? [] : " +
			"[variables.s.engine + ' ' + (has(variables.s.engineVersion) ? variables.s.engineVersion : 'without " +
			"engineVersion')]",
		choices: func(limit any) []string {
			var all []string
			for _, e := range entries(limit) {
				all = append(all, fmt.Sprint(e["engine"]))
			}
			return all
		},
		allowed: func(limit any) string {
			var all []string
			for _, e := range entries(limit) {
				all = append(all, strings.TrimSpace(
					fmt.Sprint(e["engine"])+" "+strings.Join(texts(e["versions"]), " or ")))
			}
			return Shorten(all)
		},
		allowedCEL: shortenCEL("variables.l.map(e, has(e.versions) ? e.engine + ' ' + e.versions.join(' or ') : " +
			"e.engine)"),
	}
}

func entries(limit any) []map[string]any {
	var all []map[string]any
	items, _ := limit.([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
