package rds

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Needs returns the permissions of a call to RDS: the one named like the operation, on the instance and on the
// resources that it will use, and those of the calls that RDS makes on the caller's behalf.
func (s *Service) Needs(ctx context.Context, x *wire.Exchange) ([]permit.Need, error) {
	up := s.upstream
	instance := needOn(up, x, arnOf(x, "db", x.Form.Get("DBInstanceIdentifier")))
	switch x.Call.Operation {
	case "DescribeDBInstances":
		return permit.Plain("rds:DescribeDBInstances", arnOf(x, "db", cmp.Or(x.Form.Get("DBInstanceIdentifier"), "*"))),
			nil
	case "DescribeDBSnapshots":
		return permit.Plain("rds:DescribeDBSnapshots",
			arnOf(x, "snapshot", cmp.Or(x.Form.Get("DBSnapshotIdentifier"), "*"))), nil
	case "DescribeDBEngineVersions", "DescribeOrderableDBInstanceOptions":
		return permit.Plain("rds:"+x.Call.Operation, "*"), nil
	case "DescribeDBSubnetGroups":
		return permit.Plain("rds:DescribeDBSubnetGroups",
			arnOf(x, "subgrp", cmp.Or(x.Form.Get("DBSubnetGroupName"), "*"))), nil
	case "DescribeDBParameterGroups":
		return permit.Plain("rds:DescribeDBParameterGroups",
			arnOf(x, "pg", cmp.Or(x.Form.Get("DBParameterGroupName"), "*"))), nil
	case "CreateDBInstance", "RestoreDBInstanceFromDBSnapshot":
		return createDatabaseNeeds(up, x, instance), nil
	case "ModifyDBInstance":
		all := slices.Concat([]permit.Need{instance}, groupNeeds(up, x), secretNeeds(x))
		if x.Form.Get("RotateMasterUserPassword") == "true" {
			all = append(all, permit.Need{Action: "secretsmanager:RotateSecret", Resource: databaseSecret(x)})
		}
		return all, nil
	case "DeleteDBInstance":
		return deleteDatabaseNeeds(ctx, up, x, instance)
	case "ListTagsForResource", "AddTagsToResource", "RemoveTagsFromResource":
		n := needOn(up, x, x.Form.Get("ResourceName"))
		n.Facts.Tagged(wire.FormTags(x.Form, "Tags.Tag."))
		if keys := wire.FormList(x.Form, "TagKeys.member."); len(keys) > 0 {
			n.Facts.Untagging(slices.Values(keys))
		}
		return []permit.Need{n}, nil
	}
	return nil, permit.UnknownOperation(x)
}

// arnOf returns the ARN of an RDS resource, by its identifier or its ARN.
func arnOf(x *wire.Exchange, kind, name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	return x.ARN("rds", kind+":"+strings.ToLower(name))
}

// needOn returns the operation's own permission on a resource.
func needOn(up *wire.Upstream, x *wire.Exchange, arn string) permit.Need {
	return permit.Need{
		Action: "rds:" + x.Call.Operation, Resource: arn, Facts: permit.Facts{},
		Tags: func(ctx context.Context) (map[string]string, bool, error) { return tagsOf(ctx, up, x, arn) },
	}
}

func tagsOf(ctx context.Context, up *wire.Upstream, x *wire.Exchange, arn string) (map[string]string, bool, error) {
	return wire.FormTagsOf(ctx, up, x, "rds", url.Values{
		"Action": {"ListTagsForResource"}, "Version": {"2014-10-31"},
		"ResourceName": {arn},
	})
}

// createDatabaseNeeds returns the permissions for a new instance, empty or from a snapshot. Creating the
// service-linked role of RDS is one of them: the simulator's accounts never have that role.
func createDatabaseNeeds(up *wire.Upstream, x *wire.Exchange, instance permit.Need) []permit.Need {
	tags := wire.FormTags(x.Form, "Tags.Tag.")
	instance.Facts.Tagged(tags)
	instance.MayBeNew = true
	all := []permit.Need{instance}
	if len(tags) > 0 {
		tagging := instance
		tagging.Action = "rds:AddTagsToResource"
		all = append(all, tagging)
	}
	if id := x.Form.Get("DBSnapshotIdentifier"); id != "" {
		all = append(all, needOn(up, x, arnOf(x, "snapshot", id)))
	}
	all = append(all, groupNeeds(up, x)...)
	all = append(all, permit.Need{
		Action: "iam:CreateServiceLinkedRole", Facts: permit.Facts{}.With("iam:AWSServiceName", "rds.amazonaws.com"),
		Resource: x.GlobalARN("iam", x.Call.Account, "role/aws-service-role/rds.amazonaws.com/AWSServiceRoleForRDS"),
		Denied: func() *wire.Reply {
			return x.Fail(http.StatusBadRequest, "InvalidParameterValue",
				"Unable to create the resource. Verify that you have permission to create service linked role. "+
					"Otherwise wait and try again later")
		},
	})
	if key := x.Form.Get("KmsKeyId"); key != "" {
		all = append(all, permit.OnKey(x, "rds", key, inaccessible(x, key), "kms:DescribeKey", "kms:CreateGrant")...)
	}
	return append(all, secretNeeds(x)...)
}

// groupNeeds returns the permissions on the groups that the call names.
func groupNeeds(up *wire.Upstream, x *wire.Exchange) []permit.Need {
	var all []permit.Need
	for _, g := range []struct{ parameter, kind string }{
		{"DBSubnetGroupName", "subgrp"}, {"DBParameterGroupName", "pg"}, {"OptionGroupName", "og"},
	} {
		if name := x.Form.Get(g.parameter); name != "" {
			n := needOn(up, x, arnOf(x, g.kind, name))
			n.MayBeNew = true // RDS itself reports a missing group
			all = append(all, n)
		}
	}
	return all
}

// deleteDatabaseNeeds includes, for a final snapshot, since August 2024, the permission to create one and to copy the
// tags to it.
func deleteDatabaseNeeds(ctx context.Context, up *wire.Upstream, x *wire.Exchange, instance permit.Need) (
	[]permit.Need, error,
) {
	all := []permit.Need{instance}
	name := x.Form.Get("FinalDBSnapshotIdentifier")
	if name == "" || x.Form.Get("SkipFinalSnapshot") == "true" {
		return all, nil
	}
	r, err := up.AskForm(ctx, x, "rds", url.Values{
		"Action": {"DescribeDBInstances"}, "Version": {"2014-10-31"},
		"DBInstanceIdentifier": {x.Form.Get("DBInstanceIdentifier")},
	})
	if err != nil {
		return nil, err
	}
	copied := map[string]string{}
	if strings.Contains(string(r.Body), "<CopyTagsToSnapshot>true<") {
		if copied, _, err = tagsOf(ctx, up, x, instance.Resource); err != nil {
			return nil, err
		}
	}
	instance.Action = "rds:CreateDBSnapshot"
	snapshot := needOn(up, x, arnOf(x, "snapshot", name))
	snapshot.Action, snapshot.Facts, snapshot.Copied, snapshot.MayBeNew = "rds:CreateDBSnapshot",
		permit.Facts{}.Tagged(copied), true, true
	all = append(all, instance, snapshot)
	if len(copied) > 0 {
		snapshot.Action = "rds:AddTagsToResource"
		all = append(all, snapshot)
	}
	return all, nil
}

func databaseSecret(x *wire.Exchange) string { return x.ARN("secretsmanager", "secret:rds!db-new") }

// secretNeeds returns the permissions for a password that RDS manages in Secrets Manager, by RDS's user guide.
func secretNeeds(x *wire.Exchange) []permit.Need {
	if x.Form.Get("ManageMasterUserPassword") != "true" {
		return nil
	}
	all := []permit.Need{
		{Action: "secretsmanager:CreateSecret", Resource: databaseSecret(x)},
		{Action: "secretsmanager:TagResource", Resource: databaseSecret(x)},
	}
	key := x.Form.Get("MasterUserSecretKmsKeyId")
	all = append(all, permit.OnKey(x, "rds", cmp.Or(key, "alias/aws/secretsmanager"), inaccessible(x, key),
		"kms:DescribeKey")...)
	if key != "" {
		all = append(all, permit.OnKey(x, "secretsmanager", key, inaccessible(x, key), "kms:Decrypt",
			"kms:GenerateDataKey", "kms:CreateGrant")...)
	}
	return all
}

// inaccessible returns RDS's response to a caller without permission to use a key.
func inaccessible(x *wire.Exchange, key string) func() *wire.Reply {
	return func() *wire.Reply {
		return x.Fail(http.StatusBadRequest, "KMSKeyNotAccessibleFault",
			"The specified KMS key ["+key+"] does not exist, is not enabled or you do not have permissions to "+
				"access it.")
	}
}
