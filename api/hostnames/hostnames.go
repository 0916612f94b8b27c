// Package hostnames holds the rules by which a namespace gets a hostname, as far as objects of the cluster decide: what
// a HostnameGrant allows, and which claims exclude each other.
package hostnames

import (
	"fmt"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// Refused says why a grant does not allow a request, and by which field of its spec; empty, it does. A zone, visibility
// or environment that is not known yet is not judged.
func Refused(grant v1alpha1.HostnameGrantSpec, spec v1alpha1.GatewayHostnameRequestSpec, name dnsname.Name) (
	field, why string,
) {
	switch {
	case !slices.ContainsFunc(grant.Suffixes, name.Within):
		return "hostname", fmt.Sprintf("%s is not below %s", name, strings.Join(grant.Suffixes, " or "))
	case name.Wildcard() && !grant.Wildcards:
		return "hostname", "it has no wildcards"
	case outside(grant.Zones, spec.ZoneID):
		return "zoneId", fmt.Sprintf("the zone %s is none of %v", spec.ZoneID, grant.Zones)
	case outside(grant.Visibilities, spec.Visibility):
		return "visibility", fmt.Sprintf("visibility %s is none of %v", spec.Visibility, grant.Visibilities)
	case spec.GatewayClass != "" && !slices.Contains(grant.GatewayClasses, spec.GatewayClass) &&
		!slices.Contains(grant.GatewayClasses, v1alpha1.AnyGatewayClass):
		return "gatewayClass", fmt.Sprintf("the GatewayClass %s is none of gatewayClasses %v. Leave gatewayClass out "+
			"for the platform's own", spec.GatewayClass, grant.GatewayClasses)
	case outside(grant.Environments, spec.Environment):
		return "environment", fmt.Sprintf("environment %s is none of %v", spec.Environment, grant.Environments)
	}
	return "", ""
}

// outside reports whether allowed lists anything and lacks one.
func outside[T ~string](allowed []T, one T) bool {
	return one != "" && len(allowed) > 0 && !slices.Contains(allowed, one)
}

// Clash names the conflict with another namespace; it reveals nothing about its names except the overlap. Empty if
// there is none.
func Clash(wanted, has dnsname.Name) string {
	switch {
	case !wanted.Overlaps(has):
		return ""
	case wanted == has:
		return wanted.String()
	case wanted.Wildcard():
		return "a hostname below " + wanted.Base() + ", which a wildcard would overlap"
	default:
		return has.String() + ", which overlaps " + wanted.String()
	}
}
