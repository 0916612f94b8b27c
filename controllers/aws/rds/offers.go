package rds

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/offers"
)

const (
	engineField  = "engine"
	versionField = "engineVersion"
)

// Offers lists what an AWS account has for the fields of an RDSInstance.
var Offers = offers.Fields{
	versionField:          {List: versions, By: []string{engineField}},
	classField:            {List: classes, By: []string{engineField, versionField}},
	"dbSubnetGroupName":   {List: subnetGroups, Reference: reference.SubnetGroup, Whole: true},
	parameterGroupPath:    {List: parameterGroups, By: []string{engineField}, Reference: reference.ParameterGroup},
	"vpcSecurityGroupIDs": {List: offers.SecurityGroups, Reference: reference.SecurityGroup, Many: true, Whole: true},
}

// readVersions reads the versions of an engine, newest first.
func readVersions(ctx context.Context, client *rds.Client, engine string) ([]rdstypes.DBEngineVersion, error) {
	var all []rdstypes.DBEngineVersion
	pages := rds.NewDescribeDBEngineVersionsPaginator(client, &rds.DescribeDBEngineVersionsInput{
		Engine: aws.String(engine), MaxRecords: aws.Int32(page),
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		all = append(all, out.DBEngineVersions...)
	}
	slices.SortStableFunc(all, func(a, b rdstypes.DBEngineVersion) int {
		return compareVersions(aws.ToString(b.EngineVersion), aws.ToString(a.EngineVersion))
	})
	return all, nil
}

// versions lists the versions of the engine, newest first, and each major version before its minor versions.
func versions(ctx context.Context, s *cloud.Session, q operatorapi.OfferQuery) ([]offers.Item, error) {
	if q.With[engineField] == "" {
		return nil, nil
	}
	all, err := readVersions(ctx, rds.NewFromConfig(s.Config), q.With[engineField])
	if err != nil {
		return nil, err
	}
	var items []offers.Item
	major := ""
	for i := range all {
		v := &all[i]
		if m := aws.ToString(v.MajorEngineVersion); m != "" && m != major && m != aws.ToString(v.EngineVersion) {
			major = m
			items = append(items, offers.Item{
				Offer: operatorapi.Offer{Value: m, Label: "any " + m + ".x, which RDS chooses"},
			})
		}
		words := aws.ToString(v.DBEngineVersionDescription)
		if status := aws.ToString(v.Status); status != "" && status != "available" {
			words = offers.Words(words, status)
		}
		items = append(items, offers.Item{Offer: operatorapi.Offer{Value: aws.ToString(v.EngineVersion), Label: words}})
	}
	return items, nil
}

// classes lists the classes in which RDS runs the engine, small before large. If the version is incomplete or empty,
// the newest that matches is used.
func classes(ctx context.Context, s *cloud.Session, q operatorapi.OfferQuery) ([]offers.Item, error) {
	if q.With[engineField] == "" {
		return nil, nil
	}
	client := rds.NewFromConfig(s.Config)
	version, err := newest(ctx, client, q.With[engineField], q.With[versionField])
	if err != nil || version == nil {
		return nil, err
	}
	names := map[string]bool{}
	pages := rds.NewDescribeOrderableDBInstanceOptionsPaginator(client, &rds.DescribeOrderableDBInstanceOptionsInput{
		Engine: aws.String(q.With[engineField]), EngineVersion: version, MaxRecords: aws.Int32(page),
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for i := range out.OrderableDBInstanceOptions {
			names[aws.ToString(out.OrderableDBInstanceOptions[i].DBInstanceClass)] = true
		}
	}
	items := make([]offers.Item, 0, len(names))
	for name := range names {
		items = append(items, offers.Item{Offer: operatorapi.Offer{Value: name}})
	}
	slices.SortFunc(items, func(a, b offers.Item) int {
		return cmp.Or(cmp.Compare(size(a.Value), size(b.Value)), cmp.Compare(a.Value, b.Value))
	})
	return items, nil
}

// newest returns the newest version that matches the text; nil if there is none.
func newest(ctx context.Context, client *rds.Client, engine, version string) (*string, error) {
	all, err := readVersions(ctx, client, engine)
	if err != nil {
		return nil, err
	}
	for i := range all {
		v := aws.ToString(all[i].EngineVersion)
		if version == "" || v == version || strings.HasPrefix(v, version+".") {
			return &v, nil
		}
	}
	return nil, nil
}

// compareVersions compares versions such as 9.6.1 and 16.3 number by number.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return cmp.Compare(m, n)
		}
		return cmp.Compare(x, y)
	})
}

// sizes are the sizes of instance classes up to xlarge, small before large; 2xlarge and so on follow.
var sizes = []string{"nano", "micro", "small", "medium", "large", "xlarge"}

// size ranks a class by its size: db.t4g.micro before db.r6g.2xlarge.
func size(class string) int {
	last := class[strings.LastIndexByte(class, '.')+1:]
	if i := slices.Index(sizes, last); i >= 0 {
		return i
	}
	times, found := strings.CutSuffix(last, "xlarge")
	n, err := strconv.Atoi(times)
	if !found || err != nil {
		return 1000 // metal and similar
	}
	return len(sizes) + n
}

// subnetGroups lists the subnet groups of the account.
func subnetGroups(ctx context.Context, s *cloud.Session, _ operatorapi.OfferQuery) ([]offers.Item, error) {
	var items []offers.Item
	pages := rds.NewDescribeDBSubnetGroupsPaginator(rds.NewFromConfig(s.Config), &rds.DescribeDBSubnetGroupsInput{
		MaxRecords: aws.Int32(page),
	})
	for pages.HasMorePages() && len(items) < offers.Longest {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for i := range out.DBSubnetGroups {
			g := &out.DBSubnetGroups[i]
			items = append(items, offers.Item{
				Offer: operatorapi.Offer{
					Value: aws.ToString(g.DBSubnetGroupName),
					Label: offers.Words(aws.ToString(g.DBSubnetGroupDescription), aws.ToString(g.VpcId)),
				},
			})
		}
	}
	return items, nil
}

// parameterGroups lists the account's parameter groups for the engine.
func parameterGroups(ctx context.Context, s *cloud.Session, q operatorapi.OfferQuery) ([]offers.Item, error) {
	var items []offers.Item
	pages := rds.NewDescribeDBParameterGroupsPaginator(rds.NewFromConfig(s.Config), &rds.DescribeDBParameterGroupsInput{
		MaxRecords: aws.Int32(page),
	})
	for pages.HasMorePages() && len(items) < offers.Longest {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for i := range out.DBParameterGroups {
			g := &out.DBParameterGroups[i]
			if family := aws.ToString(g.DBParameterGroupFamily); ofEngine(family, q.With[engineField]) {
				items = append(items, offers.Item{
					Offer: operatorapi.Offer{Value: aws.ToString(g.DBParameterGroupName), Label: "for " + family},
				})
			}
		}
	}
	return items, nil
}

// ofEngine reports whether a family of parameter groups is one of the engine, whatever its version: postgres16 of
// postgres, oracle-ee-19 of oracle-ee. oracle-ee-cdb-19 is of another engine, oracle-ee-cdb.
func ofEngine(family, engine string) bool {
	version, ok := strings.CutPrefix(family, engine)
	version = strings.TrimPrefix(version, "-")
	return ok && (engine == "" || version != "" && version[0] >= '0' && version[0] <= '9')
}
