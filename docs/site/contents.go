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

// contents is the navigation, in the order of reading. Pages in a folder whose README.md is here are found on that
// page. Kinds have the names that the portal gives them, with that of Kubernetes.
var contents = []Group{
	{
		"Start",
		[]Entry{
			{"", "Documentation"},
			{"getting-started", "Getting started"},
			{"concepts", "Concepts"},
			{"glossary", "Glossary"},
		},
	},
	{
		"For teams",
		[]Entry{
			{"user-guide", "User guide"},
			{"troubleshooting", "Troubleshooting"},
			{"ci", "Deploy from CI"},
			{"gitops", "Argo CD and Flux"},
		},
	},
	{"What teams request", []Entry{
		{"kinds/webapp", "Web app (WebApp)"},
		{"kinds/s3bucket", "Bucket (S3Bucket)"},
		{"kinds/rdsinstance", "Database (RDSInstance)"},
		{"kinds/databaseuser", "Database user (DatabaseUser)"},
		{"kinds/sqsqueue", "Message queue (SQSQueue)"},
		{"kinds/snstopic", "Topic (SNSTopic)"},
		{"kinds/ec2instance", "Virtual machine (EC2Instance)"},
		{"kinds/gatewayhostnamerequest", "Hostname (GatewayHostnameRequest)"},
		{"kinds/accessbinding", "Permission (AccessBinding)"},
		{"reasons", "All reasons"},
		{"aws-limits", "What AWS refuses"},
	}},
	{"What admins create", []Entry{
		{"kinds/awsprovider", "AWS account (AWSProvider)"},
		{"kinds/team", "Team (Team)"},
		{"kinds/deploypolicy", "Deploy policy (DeployPolicy)"},
		{"kinds/hostnamegrant", "Hostname grant (HostnameGrant)"},
		{"kinds/domainclaim", "Claim of a hostname (DomainClaim)"},
		{"kinds/poolgateway", "Gateway of the pool (PoolGateway)"},
		{"kinds/catalogentry", "Catalog entry (CatalogEntry)"},
	}},
	{
		"Programs",
		[]Entry{
			{
				"cli",
				"Command line",
			},
			{"cli-reference", "Command line reference"},
			{"rest-api", "REST API"},
			{"rest-reference", "REST API reference"},
		},
	},
	{"For admins", []Entry{
		{"install", "Install"},
		{"upgrade", "Upgrade"},
		{"identity", "Identity providers"},
		{"iam", "Permissions in AWS"},
		{"admin-guide", "Admin guide"},
		{"metrics", "Metrics"},
		{"runbooks", "Runbooks"},
		{"catalog", "Offer kinds of others"},
		{"disaster", "When the cluster is lost"},
		{"endpoints", "Servers that are not AWS"},
	}},
	{
		"Security",
		[]Entry{
			{"security", "Threat model"},
			{"authorization", "Who can do what"},
			{"audit", "Who did what"},
			{"bounds", "What is bounded"},
		},
	},
	{"About Portico", []Entry{
		{"comparison", "Comparison"},
		{"architecture", "How it is built"},
		{"where", "Where it is decided"},
		{"adr", "Decisions"},
		{"performance", "Performance"},
		{"local-cluster", "The local cluster"},
		{"releasing", "Releasing"},
	}},
}

// keyOf returns the key of a file below docs: "user-guide", "kinds/s3bucket", "adr" for adr/README.md, "" for
// README.md.
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
