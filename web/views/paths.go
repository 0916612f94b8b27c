package views

import (
	"net/url"
	"strconv"
)

// Paths that belong to no team.
const (
	SignInPath  = "/auth/login"
	SignOutPath = "/auth/logout"
	SwitchPath  = "/switch"
	AdminPath   = "/admin"
	TeamsPath   = "/teams"
)

// OwnerPath returns the path of the page of a Team, to which namespaces belong.
func OwnerPath(name string) string { return "/team/" + url.PathEscape(name) }

// NewTeamPath is the path of the form for a new Team.
const NewTeamPath = AdminPath + "/teams/new"

// TeamPath returns the path of a team's list of resources.
func TeamPath(team string) string { return "/teams/" + url.PathEscape(team) }

// AboutPath returns the path of the page about a team: what it can have, its members, and how to access it with tools.
func AboutPath(team string) string { return TeamPath(team) + "/about" }

// SecretsPath returns the path of the page where values of a namespace's Secrets are set.
func SecretsPath(team string) string { return TeamPath(team) + "/secrets" }

// SecretPath returns the path of the same page with the form filled in for a Secret and, if it is not empty, a key.
func SecretPath(team, name, key string) string {
	return SecretsPath(team) + "?" + secretQuery("name", name, key)
}

// DeleteSecretPath returns the path of the page that asks before a Secret, or one key of it, is deleted.
func DeleteSecretPath(team, name, key string) string {
	path := SecretsPath(team) + "/" + url.PathEscape(name) + "/delete"
	if key != "" {
		path += "?" + url.Values{"key": {key}}.Encode()
	}
	return path
}

// SecretDonePath returns the path of the page of a namespace's Secrets after a change. done is "set" or "deleted".
func SecretDonePath(team, done, name, key string) string {
	return SecretsPath(team) + "?" + secretQuery(done, name, key)
}

func secretQuery(what, name, key string) string {
	q := url.Values{what: {name}}
	if key != "" {
		q.Set("key", key)
	}
	return q.Encode()
}

// PasswordPath returns the path of the page that shows a resource's password. resource is the resource's path.
func PasswordPath(resource string) string { return resource + "/password" }

// MasterPasswordPath returns the path of the page that shows the master password of a database.
func MasterPasswordPath(resource string) string { return PasswordPath(resource) + "?master" }

// CatalogPath returns the path of the catalog of kinds that a team can request.
func CatalogPath(team string) string { return TeamPath(team) + "/catalog" }

// RequestPath returns the path of the form for a new object of a kind, named by its plural.
func RequestPath(team, plural string) string {
	return TeamPath(team) + "/new/" + url.PathEscape(plural)
}

// HostnameCheckPath returns the path of the check whether a team could have a hostname.
func HostnameCheckPath(team string) string { return TeamPath(team) + "/hostnames/check" }

// ResourcePath returns the path of a resource.
func ResourcePath(team, plural, name string) string {
	return TeamPath(team) + "/" + url.PathEscape(plural) + "/" + url.PathEscape(name)
}

// NamesPath returns the path of the names of a resource, such as secrets, that a team's objects publish.
func NamesPath(team, resource string) string {
	return TeamPath(team) + "/names/" + url.PathEscape(resource)
}

// OffersPath returns the path of the values that an AWS account has for a field of a kind. now are the values of the
// inputs that they depend on.
func OffersPath(team, plural, field string, now url.Values) string {
	path := TeamPath(team) + "/offers/" + url.PathEscape(plural) + "/" + url.PathEscape(field)
	if len(now) == 0 {
		return path
	}
	return path + "?" + now.Encode()
}

// AnotherPath returns the path of the form for a copy of an object.
func AnotherPath(team, plural, name string) string {
	return RequestPath(team, plural) + "?like=" + url.QueryEscape(name)
}

// DeletedPath returns the path of the list of a team's deleted resources that still exist in AWS.
func DeletedPath(team string) string { return TeamPath(team) + "/deleted" }

// RestoreFrom is the URL parameter of the form that restores a deleted resource: the ARN of the resource or snapshot in
// AWS.
const RestoreFrom = "restore"

// RestorePath returns the path of that form.
func RestorePath(team, plural, arn string) string {
	return RequestPath(team, plural) + "?" + RestoreFrom + "=" + url.QueryEscape(arn)
}

// EditPath returns the path of the form that changes a resource.
func EditPath(team, plural, name string) string { return ResourcePath(team, plural, name) + "/edit" }

// AppliedPath returns the path of a resource's page after a change by the user. generation is that of the change,
// behind which the cache can lag.
func AppliedPath(path string, generation int64) string {
	return path + "?applied=" + strconv.FormatInt(generation, 10)
}

// LogsPath returns the path of the log of a Pod, or of all Pods of a resource. of is the path of the Pod or the
// resource.
func LogsPath(of string) string { return of + "/logs" }

// CopyLogsPath returns the path of the log of one Pod on a resource's tab: of its current run, or of the one before its
// last restart if previous is set. resource is the resource's path.
func CopyLogsPath(resource, pod string, previous bool) string {
	q := url.Values{"pod": {pod}}
	if previous {
		q.Set("previous", "true")
	}
	return LogsPath(resource) + "?" + q.Encode()
}

// PodPath returns the path of a Pod of a resource.
func PodPath(team, plural, name, pod string) string {
	return ResourcePath(team, plural, name) + "/pods/" + url.PathEscape(pod)
}
