package rds

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
)

// text, number, yesNo and set read a field of the spec; one that is empty is not declared.
func text(of func(*spec) string) func(*spec) (string, bool) {
	return func(s *spec) (string, bool) { return of(s), of(s) != "" }
}

func number(of func(*spec) *int32) func(*spec) (string, bool) {
	return func(s *spec) (string, bool) { return formatInt(of(s)), of(s) != nil }
}

func yesNo(of func(*spec) *bool) func(*spec) (string, bool) {
	return func(s *spec) (string, bool) { return formatBool(of(s)), of(s) != nil }
}

func set(of func(*spec) []string) func(*spec) (string, bool) {
	return func(s *spec) (string, bool) { return joined(of(s)), len(of(s)) > 0 }
}

// firstString, formatInt and formatBool return the first value that there is, as text.
func firstString(of ...*string) string { return aws.ToString(firstSet(of)) }

func formatInt(of ...*int32) string {
	if n := firstSet(of); n != nil {
		return strconv.Itoa(int(*n))
	}
	return ""
}

func formatBool(of ...*bool) string { return strconv.FormatBool(aws.ToBool(firstSet(of))) }

func firstSet[T any](of []*T) *T {
	for _, v := range of {
		if v != nil {
			return v
		}
	}
	return nil
}

// parseInt returns the number in value; nil if it is none.
func parseInt(value string) *int32 {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return nil
	}
	return aws.Int32(int32(n))
}

const separator = ", "

func joined(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(slices.Compact(list), separator)
}

func members(value string) []string {
	if value == "" {
		return nil
	}
	return strings.Split(value, separator)
}

// portOf: a new instance has no endpoint yet.
func portOf(c *current) *int32 {
	if c.Endpoint == nil {
		return nil
	}
	return c.Endpoint.Port
}

func groups(c *current) string {
	var ids []string
	for _, g := range c.VpcSecurityGroups {
		if aws.ToString(g.Status) != "removing" {
			ids = append(ids, aws.ToString(g.VpcSecurityGroupId))
		}
	}
	return joined(ids)
}

type group struct{ name, status string }

// parameterGroup returns the one that the instance has; RDS lists it, and never two.
func parameterGroup(c *current) group {
	if len(c.DBParameterGroups) == 0 {
		return group{}
	}
	g := c.DBParameterGroups[0]
	return group{aws.ToString(g.DBParameterGroupName), aws.ToString(g.ParameterApplyStatus)}
}

func logs(c *current, p *pending) string {
	list := c.EnabledCloudwatchLogsExports
	if waiting := p.PendingCloudwatchLogsExports; waiting != nil {
		list = slices.DeleteFunc(slices.Concat(list, waiting.LogTypesToEnable), func(name string) bool {
			return slices.Contains(waiting.LogTypesToDisable, name)
		})
	}
	return joined(list)
}

func setLogs(in *input, value string, seen *instanceState) {
	want, have := members(value), []string(nil)
	if seen != nil {
		p := seen.pending()
		have = members(logs(&seen.db, &p))
	}
	without := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(other, name) })
	}
	in.CloudwatchLogsExportConfiguration = &rdstypes.CloudwatchLogsExportConfiguration{
		EnableLogTypes: without(want, have), DisableLogTypes: without(have, want),
	}
}

// defaultPort returns the engine's own.
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
