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

// AboutPath returns the path of the page about what a team may have, who is in it, and how to reach it by tools.
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

// SecretDonePath returns the path of the page of a namespace's Secrets for somebody who has just done that with one:
// set or deleted.
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

// PasswordPath returns the path of the page that shows the password of a resource, whose own path is given.
func PasswordPath(resource string) string { return resource + "/password" }

// MasterPasswordPath returns the path of the page that shows the master password of a database.
func MasterPasswordPath(resource string) string { return PasswordPath(resource) + "?master" }

// CatalogPath returns the path of the page of what a team can request.
func CatalogPath(team string) string { return TeamPath(team) + "/catalog" }

// RequestPath returns the path of the form for a new object of a kind, named by its plural.
func RequestPath(team, plural string) string {
	return TeamPath(team) + "/new/" + url.PathEscape(plural)
}

// HostnameCheckPath tells whether a team could have a hostname.
func HostnameCheckPath(team string) string { return TeamPath(team) + "/hostnames/check" }

// ResourcePath returns the path of a resource.
func ResourcePath(team, plural, name string) string {
	return TeamPath(team) + "/" + url.PathEscape(plural) + "/" + url.PathEscape(name)
}

// NamesPath tells names of the resource, such as secrets, that a team's objects publish.
func NamesPath(team, resource string) string {
	return TeamPath(team) + "/names/" + url.PathEscape(resource)
}

// OffersPath returns where what an AWS account has for a field of a kind is listed, by what other inputs have now.
func OffersPath(team, plural, field string, now url.Values) string {
	path := TeamPath(team) + "/offers/" + url.PathEscape(plural) + "/" + url.PathEscape(field)
	if len(now) == 0 {
		return path
	}
	return path + "?" + now.Encode()
}

// AnotherPath returns the path of the form for a new object like the one of that name.
func AnotherPath(team, plural, name string) string {
	return RequestPath(team, plural) + "?like=" + url.QueryEscape(name)
}

// DeletedPath returns the path of the list of what AWS still has of a team's deleted resources.
func DeletedPath(team string) string { return TeamPath(team) + "/deleted" }

// RestoreFrom is the parameter of the address of a form that gets a deleted resource back: the ARN of what AWS still
// has of it.
const RestoreFrom = "restore"

// RestorePath returns the path of that form.
func RestorePath(team, plural, arn string) string {
	return RequestPath(team, plural) + "?" + RestoreFrom + "=" + url.QueryEscape(arn)
}

// EditPath returns the path of the form that changes a resource.
func EditPath(team, plural, name string) string { return ResourcePath(team, plural, name) + "/edit" }

// AppliedPath returns the path of a resource's page for somebody who has just changed it: the page knows of the change
// before the cache does.
func AppliedPath(path string, generation int64) string {
	return path + "?applied=" + strconv.FormatInt(generation, 10)
}

// LogsPath returns the path of the log of a Pod, or of all Pods of a resource, whose own path is given.
func LogsPath(of string) string { return of + "/logs" }

// CopyLogsPath returns the path of the log of one Pod on the tab of a resource, whose own path is given; before its
// last restart, if previous is set.
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
