package awsproxy

import (
	"net/http"
	"strings"
)

// route53Collections names the operations on whole collections, by method.
var route53Collections = map[string]map[string]string{
	"hostedzone":        {http.MethodGet: "ListHostedZones", http.MethodPost: "CreateHostedZone"},
	"hostedzonesbyname": {http.MethodGet: "ListHostedZonesByName"},
	"hostedzonesbyvpc":  {http.MethodGet: "ListHostedZonesByVPC"},
	"hostedzonecount":   {http.MethodGet: "GetHostedZoneCount"},
	"healthcheck":       {http.MethodGet: "ListHealthChecks", http.MethodPost: "CreateHealthCheck"},
	"testdnsanswer":     {http.MethodGet: "TestDNSAnswer"},
	"tags":              {http.MethodPost: "ListTagsForResources"},
}

// route53Items names the operations on one item, or on a part of it.
var route53Items = map[string]map[string]string{
	"hostedzone":                 {http.MethodGet: "GetHostedZone", http.MethodDelete: "DeleteHostedZone", http.MethodPost: "UpdateHostedZoneComment"},
	"hostedzone/rrset":           {http.MethodGet: "ListResourceRecordSets", http.MethodPost: "ChangeResourceRecordSets"},
	"hostedzone/associatevpc":    {http.MethodPost: "AssociateVPCWithHostedZone"},
	"hostedzone/disassociatevpc": {http.MethodPost: "DisassociateVPCFromHostedZone"},
	"change":                     {http.MethodGet: "GetChange"},
	"healthcheck":                {http.MethodGet: "GetHealthCheck", http.MethodDelete: "DeleteHealthCheck", http.MethodPost: "UpdateHealthCheck"},
	"tags":                       {http.MethodGet: "ListTagsForResource", http.MethodPost: "ChangeTagsForResource"},
}

// route53Operation parses a path such as /2013-04-01/hostedzone/Z1/rrset; the resource is the ID in it. An unknown
// operation is "METHOD path".
func route53Operation(method, path string) (operation, resource string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts) < 2 {
		return method + " " + path, ""
	}
	parts = parts[1:] // the API's version
	table, name := route53Collections, parts[0]
	switch {
	case name == "tags" && len(parts) >= 3: // tags/hostedzone/Z1
		table, resource = route53Items, parts[2]
	case name != "tags" && len(parts) >= 2:
		table, resource = route53Items, parts[1]
		if len(parts) >= 3 {
			name += "/" + strings.Trim(strings.Join(parts[2:], "/"), "/")
		}
	}
	if op := table[name][method]; op != "" {
		return op, resource
	}
	return method + " " + path, resource
}
