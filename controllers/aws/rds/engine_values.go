package rds

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/portico-platform/portico/controllers/external"
)

// firstString and formatBool return the first value that is set, as text.
func firstString(of ...*string) string { return aws.ToString(external.FirstSet(of...)) }

func formatBool(of ...*bool) string { return strconv.FormatBool(aws.ToBool(external.FirstSet(of...))) }

// portOf returns the port; nil for a new instance, which has no endpoint yet.
func portOf(c *rdstypes.DBInstance) *int32 {
	if c.Endpoint == nil {
		return nil
	}
	return c.Endpoint.Port
}

func groups(c *rdstypes.DBInstance) string {
	var ids []string
	for _, g := range c.VpcSecurityGroups {
		if aws.ToString(g.Status) != "removing" {
			ids = append(ids, aws.ToString(g.VpcSecurityGroupId))
		}
	}
	return external.JoinSet(ids)
}

type group struct{ name, status string }

// parameterGroup returns the instance's parameter group; RDS lists it, and never two.
func parameterGroup(c *rdstypes.DBInstance) group {
	if len(c.DBParameterGroups) == 0 {
		return group{}
	}
	g := c.DBParameterGroups[0]
	return group{aws.ToString(g.DBParameterGroupName), aws.ToString(g.ParameterApplyStatus)}
}

func logs(seen *instanceState) string {
	list := seen.db.EnabledCloudwatchLogsExports
	if waiting := seen.pending().PendingCloudwatchLogsExports; waiting != nil {
		list = slices.DeleteFunc(slices.Concat(list, waiting.LogTypesToEnable), func(name string) bool {
			return slices.Contains(waiting.LogTypesToDisable, name)
		})
	}
	return external.JoinSet(list)
}

func setLogs(in *input, value string, seen *instanceState) {
	want, have := external.SplitSet(value), []string(nil)
	if seen != nil {
		have = external.SplitSet(logs(seen))
	}
	without := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(other, name) })
	}
	in.CloudwatchLogsExportConfiguration = &rdstypes.CloudwatchLogsExportConfiguration{
		EnableLogTypes: without(want, have), DisableLogTypes: without(have, want),
	}
}

// defaultPort returns the default port of the engine.
func defaultPort(engine string) int32 {
	switch family(engine) {
	case "postgresql":
		return 5432
	case "oracle":
		return 1521
	case "sqlserver":
		return 1433
	default:
		return 3306
	}
}

// family returns the type of an engine in the Service Binding convention.
func family(engine string) string {
	if engine == "postgres" {
		return "postgresql"
	}
	name, _, _ := strings.Cut(engine, "-")
	return name
}
