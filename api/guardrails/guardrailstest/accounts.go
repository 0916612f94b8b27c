package guardrailstest

import "github.com/portico-platform/portico/api/v1alpha1"

// The rules about tags of an AWSProvider or a Team.
var (
	ForbiddenTagKeys = []string{"billing", "map-*"}
	EnforcedTags     = v1alpha1.Tags{"cost-center": "4711"}
)

// TagKeys are keys of an object's tags, and whether these rules keep them for the platform.
var TagKeys = map[string]bool{
	"billing": true, "BILLING": true, "billin": false, "billings": false,
	"map-": true, "map-migrated": true, "MAP-Migrated": true, "map": false, "a-map-": false,
	"cost-center": false, "Cost-Center": true, "cost-centers": false,
}

// The regions of an AWSProvider.
var (
	Region         = "eu-west-1"
	AllowedRegions = []string{"eu-west-1", "eu-north-1"}
)

// RegionCase is a region that an object names, of the AWSProvider with these regions.
type RegionCase struct {
	Team    []string // what the Team lists of them; nil is all
	Region  string
	Refused string // by provider or Team, "" by neither
}

// Regions are all of these cases.
var Regions = []RegionCase{
	{nil, "eu-west-1", ""},
	{nil, "eu-north-1", ""},
	{nil, "eu-north-2", "provider"},
	{[]string{"eu-north-1"}, "eu-north-1", ""},
	{[]string{"eu-north-1"}, "eu-west-1", "Team"},
	{[]string{"eu-north-2"}, "eu-north-2", "provider"},
}
