// Package operatorapi defines the operator's API about its checks, JSON over HTTPS, and how to find it. The operator
// serves it and the portal reads it; neither stores it.
package operatorapi

import (
	"net/url"
	"time"
)

const (
	// Audience is what a token must be issued for, to be taken.
	Audience = "portico-operator"
	// ServerName is the name in the server's certificate, independent of its address.
	ServerName = "portico-operator"
	// Lease is the operator's Lease, which the leader annotates.
	Lease = "portico-operator"
	// AnnotationURL on the Lease is where the leader answers: scheme, host and port.
	AnnotationURL = "portico.dev/inspect-url"
	// AnnotationCA on the Lease is the certificate to trust there, and no other, as PEM.
	AnnotationCA = "portico.dev/inspect-ca"
	// ResourcesPath lists everything; access is granted by path, as a nonResourceURL.
	ResourcesPath = "/inspect/resources"
	// FeaturesPath lists the parts of the operator that depend on what the cluster has.
	FeaturesPath = "/inspect/features"
	// ActivityPath is the path of the controllers' workload.
	ActivityPath = "/inspect/work"
	// NoNamespace is the namespace of cluster-scoped objects in paths; it is no valid namespace name.
	NoNamespace = "-"
)

// ResourcePath returns where one resource is.
func ResourcePath(kind, namespace, name string) string {
	if namespace == "" {
		namespace = NoNamespace
	}
	return ResourcesPath + "/" + url.PathEscape(kind) + "/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)
}

// Record is what the operator remembers of its checks of one object since it started.
type Record struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// LastChecked is when the last check ended; Reason and Message are its outcome, as in the Ready condition.
	LastChecked time.Time `json:"lastChecked"`
	Reason      string    `json:"reason"`
	Message     string    `json:"message"`
	// NextCheck is when the next one is due if nothing happens before; absent while the object is paused, and after a
	// failure, which is tried again with back-off.
	NextCheck *time.Time `json:"nextCheck,omitempty"`
	// LastPlan is the last that found something to do; absent if none did.
	LastPlan *Plan `json:"lastPlan,omitempty"`
	// Passes counts the checks; Failures are those at the end that failed.
	Passes   int64 `json:"passes"`
	Failures int64 `json:"failures"`
}

// Plan is what one check found to do.
type Plan struct {
	At      time.Time `json:"at"`
	Actions []Action  `json:"steps"`
}

// Action is one call to AWS and the difference that asked for it.
type Action struct {
	Call string `json:"call"`
	Why  string `json:"why,omitempty"`
}

// Resource is a Record with what moves by itself.
type Resource struct {
	Record
	// Live are values read from AWS at this moment, such as the number of messages in a queue; absent for kinds that
	// have none. LiveError says why they could not be read.
	Live      map[string]string `json:"live,omitempty"`
	LiveError string            `json:"liveError,omitempty"`
}

// List is one page of records, sorted by kind, namespace and name.
type List struct {
	Items []Record `json:"items"`
	// Next is the parameter after of the next page; absent on the last one.
	Next string `json:"next,omitempty"`
}

// Problem is an error (RFC 9457).
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

const (
	// FeatureHostnames is the part of the operator that gives teams hostnames.
	FeatureHostnames = "hostnames"
	// FeaturePeople is the part that does for people what they may do with Secrets.
	FeaturePeople = "people"
	// FeatureDatabases is the part that makes users in databases.
	FeatureDatabases = "databases"
)

// Features are the parts of the operator that depend on what the cluster has.
type Features struct {
	Items []Feature `json:"items"` // sorted by name
}

// Feature is one of them.
type Feature struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
	// Why it is off.
	Why string `json:"why,omitempty"`
}

// Activity is what the leader's controllers do and have done. All counts begin when the leader's process does.
type Activity struct {
	Since       time.Time    `json:"since"`       // the process runs
	Controllers []Controller `json:"controllers"` // sorted by name
	Services    []Service    `json:"services"`    // of AWS, sorted by name
}

// Controller is what one controller does.
type Controller struct {
	Name    string `json:"name"`
	Queued  int64  `json:"queued"`  // objects that wait for a check
	Running int64  `json:"running"` // checks under way
	Workers int64  `json:"workers"` // checks that can be under way at once
	Passes  int64  `json:"passes"`
	// Failures are the passes that ended with an error, which is tried again with back-off.
	Failures int64 `json:"failures"`
	// LongestSeconds is how long the oldest check under way has been running.
	LongestSeconds float64 `json:"longestSeconds"`
}

// Service is what one service of AWS was asked; each attempt counts.
type Service struct {
	Name      string `json:"name"`
	Calls     int64  `json:"calls"`
	Failures  int64  `json:"failures"`  // answered with an error, or not at all
	Throttled int64  `json:"throttled"` // failures that are throttling errors
}
