package route53

import (
	"net/http"
	"strings"
)

// collections names the operations on whole collections, by method.
var collections = map[string]map[string]string{
	"hostedzone":        {http.MethodGet: "ListHostedZones", http.MethodPost: "CreateHostedZone"},
	"hostedzonesbyname": {http.MethodGet: "ListHostedZonesByName"},
	"hostedzonesbyvpc":  {http.MethodGet: "ListHostedZonesByVPC"},
	"hostedzonecount":   {http.MethodGet: "GetHostedZoneCount"},
	"healthcheck":       {http.MethodGet: "ListHealthChecks", http.MethodPost: "CreateHealthCheck"},
	"testdnsanswer":     {http.MethodGet: "TestDNSAnswer"},
	"tags":              {http.MethodPost: "ListTagsForResources"},
}

// items names the operations on one item, or on a part of it.
var items = map[string]map[string]string{
	"hostedzone":                 {http.MethodGet: "GetHostedZone", http.MethodDelete: "DeleteHostedZone", http.MethodPost: "UpdateHostedZoneComment"},
	"hostedzone/rrset":           {http.MethodGet: "ListResourceRecordSets", http.MethodPost: "ChangeResourceRecordSets"},
	"hostedzone/associatevpc":    {http.MethodPost: "AssociateVPCWithHostedZone"},
	"hostedzone/disassociatevpc": {http.MethodPost: "DisassociateVPCFromHostedZone"},
	"change":                     {http.MethodGet: "GetChange"},
	"healthcheck":                {http.MethodGet: "GetHealthCheck", http.MethodDelete: "DeleteHealthCheck", http.MethodPost: "UpdateHealthCheck"},
	"tags":                       {http.MethodGet: "ListTagsForResource", http.MethodPost: "ChangeTagsForResource"},
}

// Operation parses a path such as /2013-04-01/hostedzone/Z1/rrset; the resource is the ID in it. An unknown
// operation is "METHOD path".
func Operation(method, path string) (operation, resource string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts) < 2 {
		return method + " " + path, ""
	}
	parts = parts[1:] // the API's version
	table, name := collections, parts[0]
	switch {
	case name == "tags" && len(parts) >= 3: // tags/hostedzone/Z1
		table, resource = items, parts[2]
	case name != "tags" && len(parts) >= 2:
		table, resource = items, parts[1]
		if len(parts) >= 3 {
			name += "/" + strings.Trim(strings.Join(parts[2:], "/"), "/")
		}
	}
	if op := table[name][method]; op != "" {
		return op, resource
	}
	return method + " " + path, resource
}
