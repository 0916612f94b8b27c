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

// TeamPath is a team's list of resources.
func TeamPath(team string) string { return "/teams/" + url.PathEscape(team) }

// AboutPath is what a team may have, who is in it, and how to reach it by tools.
func AboutPath(team string) string { return TeamPath(team) + "/about" }

// CatalogPath is what a team can request.
func CatalogPath(team string) string { return TeamPath(team) + "/catalog" }

// RequestPath is the form for a new object of a kind, named by its plural.
func RequestPath(team, plural string) string {
	return TeamPath(team) + "/new/" + url.PathEscape(plural)
}

// HostnameCheckPath tells whether a team could have a hostname.
func HostnameCheckPath(team string) string { return TeamPath(team) + "/hostnames/check" }

// ResourcePath is one resource.
func ResourcePath(team, plural, name string) string {
	return TeamPath(team) + "/" + url.PathEscape(plural) + "/" + url.PathEscape(name)
}

// NamesPath tells names of the resource, such as secrets, that a team's objects publish.
func NamesPath(team, resource string) string {
	return TeamPath(team) + "/names/" + url.PathEscape(resource)
}

// AnotherPath is the form for a new object like the one of that name.
func AnotherPath(team, plural, name string) string {
	return RequestPath(team, plural) + "?like=" + url.QueryEscape(name)
}

// EditPath is the form that changes a resource.
func EditPath(team, plural, name string) string { return ResourcePath(team, plural, name) + "/edit" }

// AppliedPath is the page of a resource for somebody who has just changed it: the page knows of the change before the
// cache does.
func AppliedPath(path string, generation int64) string {
	return path + "?applied=" + strconv.FormatInt(generation, 10)
}

// PodPath is one Pod of a resource.
func PodPath(team, plural, name, pod string) string {
	return ResourcePath(team, plural, name) + "/pods/" + url.PathEscape(pod)
}
