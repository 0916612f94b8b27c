package site

import (
	"path"
	"strings"
)

// Entry is a page in the navigation.
type Entry struct{ Key, Title string }

// Group is a part of the navigation.
type Group struct {
	Title   string
	Entries []Entry
}

// contents is the navigation, in the order of reading. Pages in a folder whose README.md is here are found on that page.
var contents = []Group{
	{"Start", []Entry{{"", "Documentation"}, {"getting-started", "Getting started"}, {"concepts", "Concepts"}, {"glossary", "Glossary"}}},
	{"For teams", []Entry{{"user-guide", "User guide"}, {"troubleshooting", "Troubleshooting"}, {"gitops", "Argo CD and Flux"}}},
	{"Kinds", []Entry{{"kinds/*", ""}, {"reasons", "All reasons"}}},
	{"Programs", []Entry{
		{"cli", "Command line"}, {"cli-reference", "Command line reference"}, {"rest-api", "REST API"}, {"rest-reference", "REST API reference"},
	}},
	{"For admins", []Entry{
		{"install", "Install"},
		{"upgrade", "Upgrade"},
		{"identity", "Identity providers"},
		{"iam", "Permissions in AWS"},
		{"admin-guide", "Admin guide"},
		{"metrics", "Metrics"},
		{"runbooks", "Runbooks"},
		{"disaster", "When the cluster is lost"},
		{"endpoints", "Servers that are not AWS"},
	}},
	{"Security", []Entry{{"security", "Threat model"}, {"authorization", "Who can do what"}, {"audit", "Who did what"}}},
	{"About Portico", []Entry{
		{"comparison", "Comparison"},
		{"architecture", "How it is built"},
		{"adr", "Decisions"},
		{"performance", "Performance"},
		{"local-cluster", "The local cluster"},
		{"releasing", "Releasing"},
	}},
}

// keyOf returns the key of a file below docs: "user-guide", "kinds/s3bucket", "adr" for adr/README.md, "" for README.md.
func keyOf(file string) string {
	key := strings.TrimSuffix(file, ".md")
	if path.Base(key) != "README" {
		return key
	}
	if key = path.Dir(key); key == "." {
		return ""
	}
	return key
}
