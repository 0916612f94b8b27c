package awsproxy

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// rdsNeeds returns the permissions of a call to RDS: the one named like the operation, on the instance and on the
// resources that it will use, and those of the calls that RDS makes on the caller's behalf.
func (s *rdsService) needs(ctx context.Context, x *exchange) ([]need, error) {
	up := s.upstream
	instance := rdsNeed(up, x, rdsARN(x, "db", x.form.Get("DBInstanceIdentifier")))
	switch x.call.Operation {
	case "DescribeDBInstances":
		return plainNeed("rds:DescribeDBInstances", rdsARN(x, "db", cmp.Or(x.form.Get("DBInstanceIdentifier"), "*"))),
			nil
	case "DescribeDBSnapshots":
		return plainNeed("rds:DescribeDBSnapshots",
			rdsARN(x, "snapshot", cmp.Or(x.form.Get("DBSnapshotIdentifier"), "*"))), nil
	case "DescribeDBEngineVersions", "DescribeOrderableDBInstanceOptions":
		return plainNeed("rds:"+x.call.Operation, "*"), nil
	case "DescribeDBSubnetGroups":
		return plainNeed("rds:DescribeDBSubnetGroups",
			rdsARN(x, "subgrp", cmp.Or(x.form.Get("DBSubnetGroupName"), "*"))), nil
	case "DescribeDBParameterGroups":
		return plainNeed("rds:DescribeDBParameterGroups",
			rdsARN(x, "pg", cmp.Or(x.form.Get("DBParameterGroupName"), "*"))), nil
	case "CreateDBInstance", "RestoreDBInstanceFromDBSnapshot":
		return createDatabaseNeeds(up, x, instance), nil
	case "ModifyDBInstance":
		all := slices.Concat([]need{instance}, groupNeeds(up, x), secretNeeds(x))
		if x.form.Get("RotateMasterUserPassword") == "true" {
			all = append(all, need{action: "secretsmanager:RotateSecret", resource: databaseSecret(x)})
		}
		return all, nil
	case "DeleteDBInstance":
		return deleteDatabaseNeeds(ctx, up, x, instance)
	case "ListTagsForResource", "AddTagsToResource", "RemoveTagsFromResource":
		n := rdsNeed(up, x, x.form.Get("ResourceName"))
		n.facts.tagged(formTags(x.form, "Tags.Tag."))
		if keys := formList(x.form, "TagKeys.member."); len(keys) > 0 {
			n.facts.untagging(slices.Values(keys))
		}
		return []need{n}, nil
	}
	return nil, unknownOperation(x)
}

// rdsARN returns the ARN of an RDS resource, by its identifier or its ARN.
func rdsARN(x *exchange, kind, name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	return x.arn("rds", kind+":"+strings.ToLower(name))
}

// rdsNeed returns the operation's own permission on a resource.
func rdsNeed(up *upstream, x *exchange, arn string) need {
	return need{
		action: "rds:" + x.call.Operation, resource: arn, facts: facts{},
		tags: func(ctx context.Context) (map[string]string, bool, error) { return rdsTags(ctx, up, x, arn) },
	}
}

func rdsTags(ctx context.Context, up *upstream, x *exchange, arn string) (map[string]string, bool, error) {
	return formTagsOf(ctx, up, x, "rds", url.Values{
		"Action": {"ListTagsForResource"}, "Version": {"2014-10-31"},
		"ResourceName": {arn},
	})
}

// createDatabaseNeeds returns the permissions for a new instance, empty or from a snapshot. Creating the
// service-linked role of RDS is one of them: the simulator's accounts never have that role.
func createDatabaseNeeds(up *upstream, x *exchange, instance need) []need {
	tags := formTags(x.form, "Tags.Tag.")
	instance.facts.tagged(tags)
	instance.mayBeNew = true
	all := []need{instance}
	if len(tags) > 0 {
		tagging := instance
		tagging.action = "rds:AddTagsToResource"
		all = append(all, tagging)
	}
	if id := x.form.Get("DBSnapshotIdentifier"); id != "" {
		all = append(all, rdsNeed(up, x, rdsARN(x, "snapshot", id)))
	}
	all = append(all, groupNeeds(up, x)...)
	all = append(all, need{
		action: "iam:CreateServiceLinkedRole", facts: facts{}.with("iam:AWSServiceName", "rds.amazonaws.com"),
		resource: x.globalARN("iam", x.call.Account, "role/aws-service-role/rds.amazonaws.com/AWSServiceRoleForRDS"),
		denied: func() *reply {
			return x.fail(http.StatusBadRequest, "InvalidParameterValue",
				"Unable to create the resource. Verify that you have permission to create service linked role. "+
					"Otherwise wait and try again later")
		},
	})
	if key := x.form.Get("KmsKeyId"); key != "" {
		all = append(all, keyNeeds(x, "rds", key, inaccessible(x, key), "kms:DescribeKey", "kms:CreateGrant")...)
	}
	return append(all, secretNeeds(x)...)
}

// groupNeeds returns the permissions on the groups that the call names.
func groupNeeds(up *upstream, x *exchange) []need {
	var all []need
	for _, g := range []struct{ parameter, kind string }{
		{"DBSubnetGroupName", "subgrp"}, {"DBParameterGroupName", "pg"}, {"OptionGroupName", "og"},
	} {
		if name := x.form.Get(g.parameter); name != "" {
			n := rdsNeed(up, x, rdsARN(x, g.kind, name))
			n.mayBeNew = true // RDS itself reports a missing group
			all = append(all, n)
		}
	}
	return all
}

// deleteDatabaseNeeds includes, for a final snapshot, since August 2024, the permission to create one and to copy the
// tags to it.
func deleteDatabaseNeeds(ctx context.Context, up *upstream, x *exchange, instance need) ([]need, error) {
	all := []need{instance}
	name := x.form.Get("FinalDBSnapshotIdentifier")
	if name == "" || x.form.Get("SkipFinalSnapshot") == "true" {
		return all, nil
	}
	r, err := up.askForm(ctx, x, "rds", url.Values{
		"Action": {"DescribeDBInstances"}, "Version": {"2014-10-31"},
		"DBInstanceIdentifier": {x.form.Get("DBInstanceIdentifier")},
	})
	if err != nil {
		return nil, err
	}
	copied := map[string]string{}
	if strings.Contains(string(r.body), "<CopyTagsToSnapshot>true<") {
		if copied, _, err = rdsTags(ctx, up, x, instance.resource); err != nil {
			return nil, err
		}
	}
	instance.action = "rds:CreateDBSnapshot"
	snapshot := rdsNeed(up, x, rdsARN(x, "snapshot", name))
	snapshot.action, snapshot.facts, snapshot.copied, snapshot.mayBeNew = "rds:CreateDBSnapshot",
		facts{}.tagged(copied), true, true
	all = append(all, instance, snapshot)
	if len(copied) > 0 {
		snapshot.action = "rds:AddTagsToResource"
		all = append(all, snapshot)
	}
	return all, nil
}

func databaseSecret(x *exchange) string { return x.arn("secretsmanager", "secret:rds!db-new") }

// secretNeeds returns the permissions for a password that RDS manages in Secrets Manager, by RDS's user guide.
func secretNeeds(x *exchange) []need {
	if x.form.Get("ManageMasterUserPassword") != "true" {
		return nil
	}
	all := []need{
		{action: "secretsmanager:CreateSecret", resource: databaseSecret(x)},
		{action: "secretsmanager:TagResource", resource: databaseSecret(x)},
	}
	key := x.form.Get("MasterUserSecretKmsKeyId")
	all = append(all, keyNeeds(x, "rds", cmp.Or(key, "alias/aws/secretsmanager"), inaccessible(x, key),
		"kms:DescribeKey")...)
	if key != "" {
		all = append(all, keyNeeds(x, "secretsmanager", key, inaccessible(x, key), "kms:Decrypt", "kms:GenerateDataKey",
			"kms:CreateGrant")...)
	}
	return all
}

// keyNeeds returns permissions on a KMS key that a service uses on the caller's behalf.
func keyNeeds(x *exchange, by, key string, denied func() *reply, actions ...string) []need {
	resource := key
	switch {
	case strings.HasPrefix(key, "arn:"):
	case strings.HasPrefix(key, "alias/"):
		resource = x.arn("kms", key)
	default:
		resource = x.arn("kms", "key/"+key)
	}
	domain := ".amazonaws.com"
	switch partition(x.call.Region) {
	case "aws-cn":
		domain = ".amazonaws.com.cn"
	case "aws-eusc":
		domain = ".amazonaws.eu"
	}
	var all []need
	for _, action := range actions {
		all = append(all, need{
			action: action, resource: resource, denied: denied,
			facts: facts{}.with("kms:ViaService", by+"."+x.call.Region+domain),
		})
	}
	return all
}

// inaccessible returns RDS's response to a caller without permission to use a key.
func inaccessible(x *exchange, key string) func() *reply {
	return func() *reply {
		return x.fail(http.StatusBadRequest, "KMSKeyNotAccessibleFault",
			"The specified KMS key ["+key+"] does not exist, is not enabled or you do not have permissions to "+
				"access it.")
	}
}
